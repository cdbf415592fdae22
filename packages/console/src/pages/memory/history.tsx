import type { Memory, MemoryVersion } from '@sensorium/client'
import { useState } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useAction, useCall } from '../../api/calls.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { Badge } from '../../components/badge.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { QueryResult } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useMayChange } from './may-change.ts'

/** Returns the names of the changed fields. The first version has every field, so it is called `Created` instead. */
const summary = ({ version, fields }: MemoryVersion): string => {
  const names = Object.keys(fields)
  if (version === 1) return 'Created'
  return names.length > 5 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ')
}

export function History({ memory }: { memory: Memory }) {
  const history = useCall('getMemoryHistory', { params: { id: memory.id } })
  const owner = usePrincipalName(history.data?.versions.map(({ changed_by }) => changed_by) ?? [])
  const mayChange = useMayChange()(memory)
  const [shown, setShown] = useState<MemoryVersion | null>(null)
  const restore = useAction((client, version: number) => client.memory.restore(memory.id, version), {
    refresh: ['getMemory', 'getMemoryHistory', 'listMemories', 'searchMemories'],
    done: 'Restored as a new version',
  })
  return (
    <Panel title="History" count={history.data?.versions.length} flush>
      <QueryResult of={history}>
        {({ versions }) => (
          <ol className="memory-lines">
            {versions.map((version, index) => (
              <li key={version.version} className="row">
                <Badge plain>{version.version}</Badge>
                <div className="grow stack tight">
                  <button type="button" className="text cut" onClick={() => setShown(version)}>
                    {summary(version)}
                  </button>
                  <span className="faint small cut">
                    <Time at={version.changed_at} /> by {owner(version.changed_by)}
                  </span>
                </div>
                {index === 0 ? (
                  <Badge tone="good">now</Badge>
                ) : mayChange ? (
                  <ActionButton
                    kind="slim"
                    label={`Restore version ${version.version}`}
                    busy={restore.isPending}
                    onClick={() => restore.mutate(version.version)}
                  >
                    Restore
                  </ActionButton>
                ) : null}
              </li>
            ))}
          </ol>
        )}
      </QueryResult>
      {shown === null ? null : (
        <Overlay title={`Version ${shown.version}`} kind="drawer" onClose={() => setShown(null)}>
          <div className="stack">
            <p className="quiet">What this version changed, with the values it gave.</p>
            <JsonTree value={shown.fields} />
          </div>
        </Overlay>
      )}
    </Panel>
  )
}
