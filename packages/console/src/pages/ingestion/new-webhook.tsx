import type { IngestMapping, WebhookCreate } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'
import './ingestion.css'
import { MAPPING_FIELDS, MappingFields } from './mapping-fields.tsx'
import { TenantField } from './tenant-field.tsx'

const FIELDS = ['tenant', 'source', 'preset', 'signing_secret', ...MAPPING_FIELDS]

type Preset = NonNullable<WebhookCreate['preset']> | ''

const PRESETS: readonly { value: Preset; label: string; says: string }[] = [
  { value: '', label: 'None', says: 'Whoever posts signs the body in X-Service-Signature' },
  { value: 'github', label: 'GitHub', says: 'The signature and the events of GitHub are known' },
  {
    value: 'stripe',
    label: 'Stripe',
    says: 'The signature and the events of Stripe are known; it makes its own secret',
  },
  {
    value: 'standard',
    label: 'Standard Webhooks',
    says: 'For the many providers that sign with webhook-signature or svix-signature; name the source',
  },
]

interface NewWebhookProps {
  tenants: readonly string[]
  tenant: string
  onMade(id: string, secret: string): void
  onClose(): void
}

export function NewWebhook({ tenants, tenant, onMade, onClose }: NewWebhookProps) {
  const [slug, setSlug] = useState(tenant)
  const [preset, setPreset] = useState<Preset>('')
  const [source, setSource] = useState('')
  const [secret, setSecret] = useState('')
  const [mapping, setMapping] = useState<IngestMapping>({})
  const create = useAction((client, body: WebhookCreate) => client.call('createWebhook', { body }), {
    refresh: ['listWebhooks'],
    quiet: true,
  })
  function submit(event: FormEvent): void {
    event.preventDefault()
    const body: WebhookCreate = {
      tenant: slug,
      ...(source === '' ? {} : { source }),
      ...(preset === '' ? {} : { preset }),
      ...(secret === '' ? {} : { signing_secret: secret }),
      ...(Object.keys(mapping).length === 0 ? {} : { mapping }),
    }
    create.mutate(body, { onSuccess: ({ webhook, signing_secret }) => onMade(webhook.id, signing_secret) })
  }
  return (
    <Overlay title="Add a webhook" awaitsSecret={create.isPending} onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <TenantField tenants={tenants} value={slug} problem={problemOf(create.error, 'tenant')} onChange={setSlug} />
        <Field
          label="Preset"
          hint={PRESETS.find(({ value }) => value === preset)?.says}
          problem={problemOf(create.error, 'preset')}
        >
          <select value={preset} onChange={(event) => setPreset(event.target.value as Preset)}>
            {PRESETS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="Source"
          hint={
            <>
              Its events are <code>com.{source || (preset === 'standard' ? '' : preset) || 'shop'}.…</code>
            </>
          }
          problem={problemOf(create.error, 'source')}
        >
          <input
            className="mono"
            required={preset === '' || preset === 'standard'}
            spellCheck={false}
            placeholder={preset === 'standard' ? 'shop' : preset || 'shop'}
            value={source}
            onChange={(event) => setSource(event.target.value)}
          />
        </Field>
        <Field
          label="Signing secret"
          hint="Of a provider that makes its own; empty makes one"
          problem={problemOf(create.error, 'signing_secret')}
        >
          <input
            className="mono"
            type="password"
            autoComplete="off"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </Field>
        <MappingFields
          mapping={mapping}
          error={create.error}
          defaults={preset === '' ? undefined : 'that of the preset'}
          onChange={setMapping}
        />
        <FormProblem error={create.error} fields={FIELDS} />
        <FormEnd onCancel={onClose} awaitsSecret={create.isPending}>
          Add the webhook
        </FormEnd>
      </form>
    </Overlay>
  )
}
