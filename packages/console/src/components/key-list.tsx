// A list of API keys, each of which can be revoked.
import { useState, type ReactNode } from 'react'
import { Copyable } from './copy.tsx'
import { DeleteButton } from './delete-button.tsx'
import { Confirm } from './overlay.tsx'
import { Empty, QueryResult } from './states.tsx'
import { Time } from './time.tsx'

interface Key {
  id: string
  prefix: string
  last_used_at: string | null
}

interface KeyListProps<K extends Key> {
  of: { data: { keys: K[] } | undefined; error: Error | null; isPending: boolean; refetch?: () => unknown }
  /** Shown when there is no key: what is not possible without one. */
  emptyText: string
  /** Shown beside the prefix. */
  badges?(key: K): ReactNode
  /** Shown below the prefix, before and after the time of last use. */
  before?(key: K): ReactNode
  after?(key: K): ReactNode
  /** Whether the user is signed in with this key. */
  isOwn?(key: K): boolean
  revoke: { isPending: boolean; mutate(id: string, options: { onSettled(): void }): void }
}

export function KeyList<K extends Key>({ of, emptyText, badges, before, after, isOwn, revoke }: KeyListProps<K>) {
  const [leaving, setLeaving] = useState<K | null>(null)
  const close = (): void => setLeaving(null)
  return (
    <>
      <QueryResult of={of}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty title="No key">{emptyText}</Empty>
          ) : (
            <ul className="lines">
              {keys.map((key) => (
                <li key={key.id} className="row">
                  <div className="grow stack tight">
                    <span className="row wrap">
                      <code>{key.prefix}…</code>
                      {badges?.(key)}
                    </span>
                    <span className="faint small">
                      {before?.(key)}
                      {key.last_used_at === null ? (
                        'never used'
                      ) : (
                        <>
                          used <Time at={key.last_used_at} />
                        </>
                      )}
                      {after?.(key)}
                    </span>
                    <span className="faint small">
                      <Copyable text={key.id} label={`Copy the id of the key ${key.prefix}`} />
                    </span>
                  </div>
                  <DeleteButton label={`Revoke the key ${key.prefix}`} onClick={() => setLeaving(key)} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      {leaving === null ? null : (
        <Confirm
          title={`Revoke ${leaving.prefix}…?`}
          verb="Revoke"
          danger
          busy={revoke.isPending}
          onConfirm={() => revoke.mutate(leaving.id, { onSettled: close })}
          onClose={close}
        >
          {isOwn?.(leaving)
            ? 'You are signed in with this key: you are signed out, and cannot sign in with it again.'
            : 'Whoever uses it is refused within a second.'}{' '}
          It cannot be brought back.
        </Confirm>
      )}
    </>
  )
}
