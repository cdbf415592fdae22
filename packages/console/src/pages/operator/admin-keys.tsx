import { useAction, useCall } from '../../api/calls.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { PlusIcon } from '../../components/icons.tsx'
import { KeyList } from '../../components/key-list.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { MadeSecret } from '../../components/shown-once.tsx'

export function AdminKeys({ slug }: { slug: string }) {
  const keys = useCall('listAdminKeys', { params: { slug } })
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
        <ActionButton kind="slim" busy={create.isPending} onClick={() => create.mutate()}>
          <PlusIcon /> Make one
        </ActionButton>
      }
    >
      <KeyList
        of={keys}
        emptyText="Without one nobody administers this tenant."
        before={({ created_at }) => (
          <>
            made <Time at={created_at} />
            {' · '}
          </>
        )}
        revoke={revoke}
      />
      <MadeSecret title="A new org-admin key" name="the key" of={create} secretOf={({ admin_key }) => admin_key}>
        With this org-admin key everything in the tenant can be done.
      </MadeSecret>
    </Panel>
  )
}
