import type { Agent, ApiKey } from '@sensorium/client'
import { useState } from 'react'
import { Badge } from '../../components/badge.tsx'
import { PlusIcon, TrashIcon } from '../../components/icons.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, Reply } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useAction, useCall } from '../../api/calls.ts'
import { MintKey } from './mint-key.tsx'

export function Keys({ agent }: { agent: Agent }) {
  const keys = useCall('listKeys', { params: { id: agent.id } })
  const [isMinting, setMinting] = useState(false)
  const [leaving, setLeaving] = useState<ApiKey | null>(null)
  const revoke = useAction((client, id: string) => client.keys.revoke(agent.id, id), {
    refresh: ['listKeys'],
    done: 'The key is revoked',
  })
  return (
    <Panel
      title="Keys"
      count={keys.data?.keys.length}
      flush
      actions={
        <button type="button" className="button slim" onClick={() => setMinting(true)}>
          <PlusIcon /> Mint
        </button>
      }
    >
      <Reply of={keys}>
        {({ keys: list }) =>
          list.length === 0 ? (
            <Empty title="No key">Without one the agent cannot sign in.</Empty>
          ) : (
            <ul className="lines">
              {list.map((key) => (
                <li key={key.id} className="row">
                  <div className="grow stack tight">
                    <span className="row wrap">
                      <code>{key.prefix}…</code>
                      {key.scopes.map((scope) => (
                        <Badge key={scope} plain tone={scope === 'admin' ? 'warn' : undefined}>
                          {scope}
                        </Badge>
                      ))}
                    </span>
                    <span className="faint small">
                      used <Time at={key.last_used_at} absent="never" />
                      {key.expires_at === null ? null : (
                        <>
                          {' · expires '}
                          <Time at={key.expires_at} />
                        </>
                      )}
                    </span>
                  </div>
                  <button
                    type="button"
                    className="button bare icon slim"
                    aria-label={`Revoke the key ${key.prefix}`}
                    onClick={() => setLeaving(key)}
                  >
                    <TrashIcon />
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Reply>
      {isMinting ? (
        <Overlay title={`A key for ${agent.name}`} onClose={() => setMinting(false)}>
          <MintKey agent={agent} onClose={() => setMinting(false)} />
        </Overlay>
      ) : null}
      {leaving === null ? null : (
        <Confirm
          title={`Revoke ${leaving.prefix}…?`}
          verb="Revoke"
          danger
          busy={revoke.isPending}
          onConfirm={() => revoke.mutate(leaving.id, { onSettled: () => setLeaving(null) })}
          onClose={() => setLeaving(null)}
        >
          Whoever uses it is refused within a second. It cannot be brought back.
        </Confirm>
      )}
    </Panel>
  )
}
