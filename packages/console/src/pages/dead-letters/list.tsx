// Every dead letter that passes the filter, with actions for one of them, for a selection, or for all.
import type { DeadLetterFilter, DeadLetterList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useOpened } from '../../api/opened.ts'
import { useRows } from '../../api/rows.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { counted } from '../../components/counted.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Opening } from '../../components/opening.tsx'
import { PageFrame } from '../../components/page.tsx'
import { shellCommand } from '../../components/shell-command.ts'
import { Empty } from '../../components/states.tsx'
import { useSettled } from '../../components/use-settled.ts'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useSearchChange } from '../search-params.ts'
import { useColumns } from './columns.tsx'
import './dead-letters.css'
import { Filters } from './filters.tsx'
import { JobBar } from './job-bar.tsx'
import { LetterDrawer } from './letter.tsx'
import { Summary } from './summary.tsx'
import { useJob } from './use-job.ts'
import type { Choice, DeadLetterItem, Verb } from './work-through.ts'

const route = getRouteApi('/dead-letters')

const lettersOf = ({ dlq_items }: DeadLetterList): DeadLetterItem[] => dlq_items

const NACK = shellCommand(
  '/v1/delivery/nack',
  `{"delivery_ids":["'$DELIVERY'"],"dead_letter":true,"reason":"no rule for this"}`,
)

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Returns the row that has the focus, for the key that selects it. */
const focusedRow = (): number => Number((document.activeElement as HTMLElement | null)?.dataset['index'] ?? -1)

export function DeadLettersPage() {
  const { reason = '', type = '', agent = '', open } = route.useSearch()
  const { kind } = useSession()
  const jobs = useJob()
  const set = useSearchChange<{ reason?: string; type?: string; agent?: string; open?: string }>()
  const wanted = useMemo(() => filterOf(reason, type, agent), [reason, type, agent])
  const asked = useSettled(wanted)
  const list = useRows('listDeadLetters', { query: asked }, lettersOf, { every: 5_000 })
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback((id: string) => setPicked((old) => toggled(old, id)), [])
  // Rows selected under another filter are out of sight, and the user no longer means them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when another list is shown
  useEffect(() => setPicked(new Set()), [list.key])
  const columns = useColumns(list.rows, kind === 'org_admin', picked, toggle)
  useShortcut('x', 'Select the row', () => {
    const row = list.at(focusedRow())
    if (row !== undefined) toggle(row.id)
  })
  const isFiltered = Object.keys(asked).length > 0
  const opened = useOpened(open, list, 'listDeadLetters', { query: asked }, lettersOf)
  const shown = opened.item

  function plan(verb: Verb, choice: Choice): void {
    setPicked(new Set())
    jobs.plan(verb, choice)
  }
  // All that pass the filter now: letters that are dead-lettered later are not included.
  const all: Choice = { filter: { ...asked, until: list.at(0)?.dead_lettered_at ?? '' }, total: list.total }
  const target: Choice = picked.size > 0 ? { ids: [...picked] } : all
  const says =
    picked.size > 0
      ? `${picked.size.toLocaleString()} selected`
      : list.total === 1
        ? '1 dead letter'
        : list.total === 0
          ? 'all'
          : `all ${list.total.toLocaleString()}`
  // The count on the buttons is that of the list shown, which has to be the list of the filter shown above it.
  const isCurrent = wanted === asked && !list.isPrevious
  const cannot = jobs.job !== null || list.total === 0 || !isCurrent

  return (
    <PageFrame
      title="Dead letters"
      full
      actions={
        <>
          <ActionButton busy={cannot} onClick={() => plan('replay', target)}>
            Replay {says}
          </ActionButton>
          <ActionButton kind="danger" busy={cannot} onClick={() => plan('discard', target)}>
            Discard {says}
          </ActionButton>
        </>
      }
    >
      <Filters chosen={{ reason, type, agent }} onChange={set} />
      <Summary chosen={{ reason, type, agent }} onChoose={(facet, value) => set({ [facet]: value })} />
      {jobs.job === null ? null : <JobBar job={jobs.job} jobs={jobs} />}
      <ListTable
        label="Dead letters"
        list={list}
        columns={columns}
        isSelected={({ id }) => picked.has(id)}
        onOpen={({ id }) => set({ open: id })}
        foot={
          <>
            <span className="number" role="status" aria-live={isFiltered ? 'polite' : 'off'}>
              {counted(list.total, 'dead letter')}
              {isFiltered ? (list.total === 1 ? ' fits' : ' fit') : ''}
            </span>
            <SelectAll rows={list.rows} total={list.total} picked={picked.size} onPick={setPicked} />
          </>
        }
        empty={
          isFiltered ? (
            <Empty title="No dead letter fits this filter" />
          ) : (
            <Empty title="No dead letters" command={NACK}>
              Here is what failed until it had no attempts left, and what an agent gave up on. An agent gives a delivery
              up with this command, with its key in the first line and the id of the delivery in DELIVERY.
            </Empty>
          )
        }
      />
      {!open || list.isPending ? null : shown === undefined ? (
        <Opening of={opened} noun="dead letter" onClose={() => set({ open: '' })} />
      ) : (
        <LetterDrawer
          letter={shown}
          busy={jobs.job !== null}
          onClose={() => set({ open: '' })}
          onDo={(verb) => {
            set({ open: '' })
            plan(verb, { ids: [shown.id] })
          }}
        />
      )}
    </PageFrame>
  )
}

function filterOf(reason: string, type: string, agent: string): DeadLetterFilter {
  return {
    ...(reason === '' ? {} : { reason }),
    ...(type === '' ? {} : { event_type: type }),
    ...(agent === '' ? {} : { agent_id: agent }),
  }
}

interface SelectAllProps {
  rows: readonly DeadLetterItem[]
  /** Of which some rows may not have been fetched. */
  total: number
  picked: number
  onPick(ids: ReadonlySet<string>): void
}

function SelectAll({ rows, total, picked, onPick }: SelectAllProps) {
  if (rows.length === 0) return null
  return picked > 0 ? (
    <button type="button" className="button bare slim" onClick={() => onPick(new Set())}>
      Select none
    </button>
  ) : (
    <button type="button" className="button bare slim" onClick={() => onPick(new Set(rows.map(({ id }) => id)))}>
      {rows.length === total ? 'Select all' : `Select the ${rows.length.toLocaleString()} shown`}
    </button>
  )
}
