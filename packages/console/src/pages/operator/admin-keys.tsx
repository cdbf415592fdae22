import type { AdminKey } from '@sensorium/client'
import { useState } from 'react'
import { useAction, useCall } from '../../api/calls.ts'
import { PlusIcon, TrashIcon } from '../../components/icons.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, Reply } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { ShownOnce } from './shown-once.tsx'

export function AdminKeys({ slug }: { slug: string }) {
  const keys = useCall('listAdminKeys', { params: { slug } })
  const [leaving, setLeaving] = useState<AdminKey | null>(null)
  const create = useAction((client) => client.call('createAdminKey', { params: { slug } }), {
    refresh: ['listAdminKeys'],
  })
  const revoke = useAction((client, key_id: string) => client.call('revokeAdminKey', { params: { slug, key_id } }), {
    refresh: ['listAdminKeys'],
    done: 'The key is revoked',
  })
  return (
    <Panel
      title="Org-admin keys"
      count={keys.data?.keys.length}
      flush
      actions={
        <button type="button" className="button slim" disabled={create.isPending} onClick={() => create.mutate()}>
          <PlusIcon /> Make one
        </button>
      }
    >
      <Reply of={keys}>
        {({ keys: list }) =>
          list.length === 0 ? (
            <Empty title="No key">Without one nobody administers this tenant.</Empty>
          ) : (
            <ul className="lines">
              {list.map((key) => (
                <li key={key.id} className="row">
                  <div className="grow stack tight">
                    <code>{key.prefix}…</code>
                    <span className="faint small">
                      made <Time at={key.created_at} /> · used <Time at={key.last_used_at} absent="never" />
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
      {create.data ? (
        <Overlay title="A new org-admin key" onClose={create.reset}>
          <ShownOnce secret={create.data.admin_key} name="the key" onClose={create.reset}>
            With this org-admin key everything in the tenant can be done.
          </ShownOnce>
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
