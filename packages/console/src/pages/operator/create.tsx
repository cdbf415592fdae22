import type { TenantCreate } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'

const FIELDS = ['slug', 'name']

export function CreateTenant({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [slug, setSlug] = useState('')
  const [name, setName] = useState('')
  const create = useAction((client, body: TenantCreate) => client.call('createTenant', { body }), {
    refresh: ['listTenants'],
    done: ({ tenant }) => `${tenant.name} is there`,
    quiet: true,
  })
  function submit(event: FormEvent): void {
    event.preventDefault()
    create.mutate({ slug, ...(name === '' ? {} : { name }) })
  }
  if (create.data !== undefined) {
    const { tenant, admin_key } = create.data
    const open = (): void => void navigate({ to: '/tenants/$slug', params: { slug: tenant.slug }, replace: true })
    return (
      <Overlay title={`The first key of ${tenant.name}`} onClose={open}>
        <ShownOnce secret={admin_key} name="the key" onClose={open}>
          With this org-admin key everything in the tenant can be done.
        </ShownOnce>
      </Overlay>
    )
  }
  return (
    <Overlay title="Create a tenant" awaitsSecret={create.isPending} onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <Field
          label="Slug"
          hint="Lower-case letters, digits and hyphens. It is in addresses and cannot be changed."
          problem={problemOf(create.error, 'slug')}
        >
          <input
            className="mono"
            required
            autoFocus
            spellCheck={false}
            placeholder="acme"
            value={slug}
            onChange={(event) => setSlug(event.target.value)}
          />
        </Field>
        <Field label="Name" problem={problemOf(create.error, 'name')}>
          <input placeholder="Acme" value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <FormProblem error={create.error} fields={FIELDS} />
        <FormEnd onCancel={onClose} awaitsSecret={create.isPending}>
          Create
        </FormEnd>
      </form>
    </Overlay>
  )
}
