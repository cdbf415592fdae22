import type { Memory } from '@sensorium/client'
import { Copyable } from '../../components/copy.tsx'
import { EventLink } from '../../components/event-link.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Moment } from '../../components/time.tsx'

/** Shows a fraction as a number and as a bar. */
function Fraction({ value }: { value: number }) {
  return (
    <span className="fraction">
      <span className="number">{value.toFixed(2)}</span>
      <span className="track">
        <i className="fill" style={{ width: `${value * 100}%` }} />
      </span>
    </span>
  )
}

/** Shows what is known about a memory besides its content. */
export function AboutMemory({
  memory,
  owner,
  withContent = false,
}: {
  memory: Memory
  owner: string
  withContent?: boolean
}) {
  const hasMetadata = Object.keys(memory.metadata).length > 0
  return (
    <div className="stack wide">
      {withContent ? (
        <p className="memory-content" dir="auto">
          {memory.content}
        </p>
      ) : null}
      <KeyValues
        of={{
          Id: <Copyable text={memory.id} label="Copy the id" />,
          Owner: owner === memory.agent_id ? <Copyable text={owner} /> : owner,
          Team: memory.team_id,
          Project: memory.project_id,
          Status: memory.status === 'active' ? null : memory.status,
          Confidence: <Fraction value={memory.confidence} />,
          Importance: <Fraction value={memory.importance} />,
          'External id': memory.external_id ? <Copyable text={memory.external_id} /> : null,
          Source: [memory.source_type, memory.source_id].filter((part) => part !== null).join(' ') || null,
          'Source address': memory.source_url ? <Copyable text={memory.source_url} /> : null,
          'Source event': memory.source_event_id ? <EventLink id={memory.source_event_id} /> : null,
          'True as of': memory.freshness_date ? <Moment at={memory.freshness_date} /> : null,
          Expires: memory.expires_at ? <Moment at={memory.expires_at} /> : null,
          Created: <Moment at={memory.created_at} />,
          Changed: <Moment at={memory.updated_at} />,
          Used: <Moment at={memory.accessed_at} />,
        }}
      />
      {hasMetadata ? (
        <div className="stack tight">
          <h3 className="quiet small">Metadata</h3>
          <JsonTree value={memory.metadata} />
        </div>
      ) : null}
    </div>
  )
}
