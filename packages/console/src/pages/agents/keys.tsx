import type { Agent } from '@sensorium/client'
import { useState } from 'react'
import { Badge } from '../../components/badge.tsx'
import { PlusIcon } from '../../components/icons.tsx'
import { KeyList } from '../../components/key-list.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time, useTick } from '../../components/time.tsx'
import { useAction, useCall } from '../../api/calls.ts'
import { useSession } from '../../session/session.ts'
import { MintKey } from './mint-key.tsx'

const isPast = (at: string | null): boolean => at !== null && Date.parse(at) <= Date.now()

export function Keys({ agent }: { agent: Agent }) {
  const { isSelf, isOwnKey } = useSession()
  // A key may expire while it is shown.
  useTick()
  const keys = useCall('listKeys', { params: { id: agent.id } })
  const [isMinting, setMinting] = useState(false)
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
      <KeyList
        of={keys}
        emptyText="Without one the agent cannot sign in."
        badges={({ scopes, expires_at }) => (
          <>
            {isPast(expires_at) ? <Badge tone="bad">expired</Badge> : null}
            {scopes.map((scope) => (
              <Badge key={scope} plain tone={scope === 'admin' ? 'warn' : undefined}>
                {scope}
              </Badge>
            ))}
          </>
        )}
        after={({ expires_at }) =>
          expires_at === null ? null : (
            <>
              {isPast(expires_at) ? ' · expired ' : ' · expires '}
              <Time at={expires_at} />
            </>
          )
        }
        isOwn={({ prefix }) => isSelf(agent.id) && isOwnKey(prefix)}
        revoke={revoke}
      />
      {isMinting ? <MintKey agent={agent} onClose={() => setMinting(false)} /> : null}
    </Panel>
  )
}
