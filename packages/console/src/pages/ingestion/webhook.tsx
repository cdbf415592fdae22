import type { Webhook } from '@sensorium/client'
import { useState } from 'react'
import { useAction } from '../../api/calls.ts'
import { Badge } from '../../components/badge.tsx'
import { Copyable } from '../../components/copy.tsx'
import { FormProblem } from '../../components/field.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Moment } from '../../components/time.tsx'
import './ingestion.css'
import { MappingShown } from './mapping-shown.tsx'
import { Sample } from './sample.tsx'

interface WebhookDrawerProps {
  webhook: Webhook
  /** The secret of the webhook, if it was created on this page. */
  secret: string
  onSecret(secret: string): void
  onClose(): void
}

export function WebhookDrawer({ webhook, secret, onSecret, onClose }: WebhookDrawerProps) {
  const { id, source } = webhook
  const [asking, setAsking] = useState<'rotate' | 'delete' | null>(null)
  const rotate = useAction((client) => client.call('rotateWebhook', { params: { id } }), {
    refresh: ['listWebhooks'],
    quiet: true,
  })
  const remove = useAction((client) => client.call('deleteWebhook', { params: { id } }), {
    refresh: ['listWebhooks'],
    done: `The webhook ${source} is gone`,
    quiet: true,
  })
  function leave(): void {
    rotate.reset()
    remove.reset()
    setAsking(null)
  }
  if (asking === 'rotate')
    return (
      <Confirm
        title={`A new secret for ${source}?`}
        verb="Make a new one"
        awaitsSecret={rotate.isPending}
        onConfirm={() => rotate.mutate(undefined, { onSuccess: ({ signing_secret }) => onSecret(signing_secret) })}
        onClose={leave}
      >
        The secret before it holds for another 24 hours.
        <FormProblem error={rotate.error} fields={[]} />
      </Confirm>
    )
  if (asking === 'delete')
    return (
      <Confirm
        title={`Delete the webhook ${source}?`}
        verb="Delete"
        danger
        busy={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
        onClose={leave}
      >
        Whatever is posted to it from now on is refused. Events that came through it stay.
        <FormProblem error={remove.error} fields={[]} />
      </Confirm>
    )
  return (
    <Overlay title={source} kind="drawer" wide onClose={onClose}>
      <div className="stack wide">
        <div className="row">
          <button type="button" className="button" onClick={() => setAsking('rotate')}>
            New secret
          </button>
          <button type="button" className="button danger" onClick={() => setAsking('delete')}>
            Delete
          </button>
        </div>
        <div className="columns even">
          <KeyValues
            of={{
              State: <Badge tone={webhook.active ? 'good' : undefined}>{webhook.active ? 'active' : 'inactive'}</Badge>,
              Tenant: <code>{webhook.tenant}</code>,
              Preset: webhook.preset ?? null,
              Address: <Copyable text={webhook.own_url} label="Copy the address" />,
              Created: <Moment at={webhook.created_at} />,
              Id: <Copyable text={id} label="Copy the id" />,
            }}
          />
          <MappingShown mapping={webhook.mapping} />
        </div>
        <Sample webhook={webhook} madeSecret={secret} />
      </div>
    </Overlay>
  )
}
