import type { ConnectorCreate, IngestMapping } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import './ingestion.css'
import { MAPPING_FIELDS, MappingFields } from './mapping-fields.tsx'
import { TenantField } from './tenant-field.tsx'

const FIELDS = ['tenant', 'source', 'url', 'address', 'credit', ...MAPPING_FIELDS]

interface NewConnectorProps {
  tenants: readonly string[]
  tenant: string
  onClose(): void
}

export function NewConnector({ tenants, tenant, onClose }: NewConnectorProps) {
  const [draft, setDraft] = useState({ tenant, source: '', url: '', address: '', credit: 200 })
  const [mapping, setMapping] = useState<IngestMapping>({})
  const set = (change: Partial<typeof draft>): void => setDraft({ ...draft, ...change })
  const create = useAction((client, body: ConnectorCreate) => client.call('createConnector', { body }), {
    refresh: ['listConnectors'],
    done: ({ connector }) => `${connector.source} is connecting`,
    quiet: true,
  })
  function submit(event: FormEvent): void {
    event.preventDefault()
    const body: ConnectorCreate = { ...draft, ...(Object.keys(mapping).length === 0 ? {} : { mapping }) }
    create.mutate(body, { onSuccess: onClose })
  }
  return (
    <form className="stack wide" onSubmit={submit}>
      <TenantField
        tenants={tenants}
        value={draft.tenant}
        problem={problemOf(create.error, 'tenant')}
        onChange={(slug) => set({ tenant: slug })}
      />
      <Field
        label="Source"
        hint={
          <>
            Its events are <code>com.{draft.source || 'erp'}.…</code>
          </>
        }
        problem={problemOf(create.error, 'source')}
      >
        <input
          className="mono"
          required
          spellCheck={false}
          placeholder="erp"
          value={draft.source}
          onChange={(event) => set({ source: event.target.value })}
        />
      </Field>
      <Field
        label="Broker"
        hint="With user and password; kept encrypted and never shown again"
        problem={problemOf(create.error, 'url')}
      >
        <input
          className="mono"
          required
          spellCheck={false}
          autoComplete="off"
          placeholder="amqps://user:password@broker.example.com:5671"
          value={draft.url}
          onChange={(event) => set({ url: event.target.value })}
        />
      </Field>
      <Field label="Address" hint="The queue, as the broker spells it" problem={problemOf(create.error, 'address')}>
        <input
          className="mono"
          required
          spellCheck={false}
          placeholder="/amq/queue/orders"
          value={draft.address}
          onChange={(event) => set({ address: event.target.value })}
        />
      </Field>
      <Field label="Credit" hint="Messages on their way at once" problem={problemOf(create.error, 'credit')}>
        <input
          type="number"
          min={1}
          max={1000}
          value={draft.credit}
          onChange={(event) => set({ credit: event.target.valueAsNumber || 0 })}
        />
      </Field>
      <MappingFields mapping={mapping} error={create.error} onChange={setMapping} />
      <FormProblem error={create.error} fields={FIELDS} />
      <FormEnd onCancel={onClose} busy={create.isPending}>
        Add the connector
      </FormEnd>
    </form>
  )
}
