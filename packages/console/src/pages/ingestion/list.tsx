import type { Connector, ConnectorList, Webhook, WebhookList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useCall } from '../../api/calls.ts'
import { useOpened } from '../../api/opened.ts'
import { useRows } from '../../api/rows.ts'
import { Opening } from '../../components/opening.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { PageFrame } from '../../components/page.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useSearchChange } from '../search-params.ts'
import { ConnectorDrawer } from './connector.tsx'
import { Connectors } from './connectors.tsx'
import { NewConnector } from './new-connector.tsx'
import { NewWebhook } from './new-webhook.tsx'
import { WebhookDrawer } from './webhook.tsx'
import { Webhooks } from './webhooks.tsx'

const route = getRouteApi('/ingestion')

const webhooksOf = ({ webhooks }: WebhookList): Webhook[] => webhooks
const connectorsOf = ({ connectors }: ConnectorList): Connector[] => connectors

export function IngestionPage() {
  const { tenant = '', new: isNew, open } = route.useSearch()
  const tenants = useCall('listTenants', { query: { limit: 200 } })
  const query = tenant === '' ? {} : { tenant }
  const webhooks = useRows('listWebhooks', { query }, webhooksOf, { every: 15_000 })
  const connectors = useRows('listConnectors', { query }, connectorsOf, { every: 3_000 })
  const set = useSearchChange<{ tenant?: string; new?: string; open?: string }>()
  /** A secret created on this page: shown once, and used to sign a sample while the page is open. */
  const [made, setMade] = useState<{ id: string; secret: string; isSeen: boolean } | null>(null)
  const isWebhook = open?.startsWith('whk_') ?? false
  const openedWebhook = useOpened(isWebhook ? open : undefined, webhooks, 'listWebhooks', { query }, webhooksOf)
  const openedConnector = useOpened(isWebhook ? undefined : open, connectors, 'listConnectors', { query }, connectorsOf)
  const [webhook, connector] = [openedWebhook.item, openedConnector.item]
  const close = (): void => set({ open: '' })
  const slugs = tenants.data?.tenants.map(({ slug }) => slug) ?? []
  return (
    <PageFrame
      title="Ingestion"
      actions={
        <select
          className="input"
          aria-label="Tenant"
          value={tenant}
          onChange={(event) => set({ tenant: event.target.value })}
        >
          <option value="">Every tenant</option>
          {slugs.map((slug) => (
            <option key={slug}>{slug}</option>
          ))}
        </select>
      }
    >
      <Webhooks webhooks={webhooks} onAdd={() => set({ new: 'webhook' })} onOpen={(id) => set({ open: id })} />
      <Connectors connectors={connectors} onAdd={() => set({ new: 'connector' })} onOpen={(id) => set({ open: id })} />
      {isNew === 'webhook' ? (
        <NewWebhook
          tenants={slugs}
          tenant={tenant}
          onMade={(id, secret) => {
            setMade({ id, secret, isSeen: false })
            set({ new: '', open: id })
          }}
          onClose={() => set({ new: '' })}
        />
      ) : null}
      {isNew === 'connector' ? (
        <Overlay title="Add a connector" onClose={() => set({ new: '' })}>
          <NewConnector tenants={slugs} tenant={tenant} onClose={() => set({ new: '' })} />
        </Overlay>
      ) : null}
      {made !== null && !made.isSeen && made.id === open ? (
        <Overlay title="The signing secret" onClose={() => setMade({ ...made, isSeen: true })}>
          <ShownOnce secret={made.secret} name="the secret" onClose={() => setMade({ ...made, isSeen: true })}>
            Give it to the system that posts here; its requests are signed with it.
          </ShownOnce>
        </Overlay>
      ) : webhook !== undefined ? (
        <WebhookDrawer
          key={webhook.id}
          webhook={webhook}
          secret={made?.id === webhook.id ? made.secret : ''}
          onSecret={(secret) => setMade({ id: webhook.id, secret, isSeen: false })}
          onClose={close}
        />
      ) : connector !== undefined ? (
        <ConnectorDrawer key={connector.id} connector={connector} onClose={close} />
      ) : !open || webhooks.isPending || connectors.isPending ? null : isWebhook ? (
        <Opening of={openedWebhook} noun="webhook" onClose={close} />
      ) : (
        <Opening of={openedConnector} noun="connector" onClose={close} />
      )}
    </PageFrame>
  )
}
