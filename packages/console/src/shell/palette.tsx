// The command palette, ⌘K: finds pages, commands, and things by their name or id.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useState, type KeyboardEvent, type ReactNode } from 'react'
import { LOCAL } from '../api/reachable.ts'
import { ArrowIcon } from '../components/icons.tsx'
import { useModal } from '../components/modal.ts'
import { Failed } from '../components/states.tsx'
import { pages } from '../pages/index.ts'
import { useSession } from '../session/session.ts'

export interface Command {
  title: string
  kind: string
  /** Where it leads, if it does, which tells things of one name apart. */
  to?: string
  icon?: ReactNode
  run(): void
}

const SHORTEST = 2

/** Whether the title contains every word that was typed. */
const fits = (title: string, typed: string): boolean =>
  typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => title.toLowerCase().includes(word))

/** Returns what the pages find for a name of at least two characters. */
function useFound(typed: string): { found: Command[]; error: Error | null; isFetching: boolean } {
  const session = useSession()
  const navigate = useNavigate()
  const {
    data = [],
    error,
    isFetching,
  } = useQuery({
    queryKey: ['palette', typed],
    meta: LOCAL,
    enabled: typed.length >= SHORTEST,
    queryFn: async () => {
      const finders = pages.filter((page) => page.find !== undefined && page.isFor(session))
      const results = await Promise.allSettled(finders.map((page) => page.find!(session, typed)))
      const found = results.flatMap((one) => (one.status === 'fulfilled' ? one.value.slice(0, 6) : []))
      // What other pages found is worth more than the error of one. But nobody may say that there is nothing.
      const failed = results.find((one) => one.status === 'rejected')
      if (found.length === 0 && failed !== undefined) throw failed.reason
      return found
    },
  })
  const found = data.map(({ title, kind, to, search = {} }) => ({
    title,
    kind,
    to,
    run: () => void navigate({ to: to as never, search: search as never }),
  }))
  return { found, error, isFetching }
}

export function Palette({ commands, onClose }: { commands: readonly Command[]; onClose(): void }) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const modal = useModal(onClose)
  const id = useId()
  const { found, error, isFetching } = useFound(typed.trim())
  const shown = [...commands.filter(({ title, kind }) => fits(`${kind} ${title}`, typed.trim())), ...found]
  const chosen = Math.min(at, shown.length - 1)

  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, chosen])

  function choose(command: Command | undefined): void {
    if (command === undefined) return
    if (command.to !== undefined) {
      // The keyboard goes on where the command leads, and not at what had the focus before. The title of a page that is
      // not shown yet takes the focus from here (components/page.tsx).
      modal.ref.current!.close()
      ;(document.activeElement as HTMLElement | null)?.blur()
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
    }
    onClose()
    command.run()
  }
  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((chosen + step + shown.length) % Math.max(1, shown.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      choose(shown[chosen])
    }
  }

  return (
    <dialog {...modal} className="palette" aria-label="Command palette">
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={shown.length === 0 ? undefined : `${id}-${chosen}`}
        aria-label="Search pages, commands and things"
        placeholder="Go to, do, or find by name or id…"
        autoFocus
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Results">
        {shown.map((command, index) => (
          <div
            key={`${command.kind} ${command.title} ${command.to ?? ''}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => choose(command)}
            onMouseMove={() => setAt(index)}
          >
            {command.icon ?? <ArrowIcon />}
            <span className="grow cut">{command.title}</span>
            <span className="faint small">{command.kind}</span>
          </div>
        ))}
      </div>
      <div role="status">
        {shown.length === 0 && error === null && !isFetching ? (
          <p className="empty quiet">Nothing has that in its name.</p>
        ) : null}
      </div>
      {error === null ? null : <Failed error={error} slim />}
    </dialog>
  )
}
