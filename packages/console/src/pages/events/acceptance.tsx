// When an event was accepted, and from whom: what only the service knows, and only an org-admin may ask.
import { usePrincipalName } from '../../api/agent-names.ts'
import { useCall } from '../../api/calls.ts'
import { KeyValues } from '../../components/key-values.tsx'
import { Panel } from '../../components/panel.tsx'
import { PrincipalLink } from '../../components/principal-link.tsx'
import { Moment } from '../../components/time.tsx'

export function Acceptance({ id }: { id: string }) {
  const { data } = useCall('listEvents', { query: { id, limit: 1 } })
  const accepted = data?.events[0]
  const nameOf = usePrincipalName([accepted?.sender ?? null])
  if (!accepted) return null
  const { sender, received_at } = accepted
  // A webhook or a connector has no page of its own.
  const isAgent = sender.startsWith('agt_')
  return (
    <Panel title="Acceptance">
      <KeyValues
        of={{
          Received: <Moment at={received_at} />,
          Sender: isAgent ? (
            <PrincipalLink id={sender} className="link">
              {nameOf(sender)}
            </PrincipalLink>
          ) : (
            nameOf(sender)
          ),
        }}
      />
    </Panel>
  )
}
