import type { IngestMapping } from '@sensorium/client'
import { KeyValues } from '../../components/key-values.tsx'

const code = (text: string | undefined) => (text === undefined ? null : <code>{text}</code>)

export function MappingShown({ mapping }: { mapping: IngestMapping }) {
  return (
    <section className="stack" aria-label="Mapping">
      <h3>Mapping</h3>
      <KeyValues
        of={{
          Entity: code(mapping.entity),
          Action: code(mapping.action),
          Id: code(mapping.id),
          Subject: code(mapping.subject),
          Data: code(mapping.data),
        }}
      />
    </section>
  )
}
