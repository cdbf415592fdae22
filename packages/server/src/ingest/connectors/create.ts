import { X509Certificate } from 'node:crypto'
import { DEFAULT_CREDIT, type Connector as ShownConnector, type IngestMapping } from '@sensorium/contract'
import { invalid } from '../../kernel/failure.ts'
import { recordRoutingChange } from '../../routing/changes.ts'
import type { Db } from '../../store/db.ts'
import { requireTenant } from '../../tenants/get.ts'
import { completeMapping } from '../mapping.ts'
import type { IngestTools } from '../registration.ts'
import type { Connector } from './connector.ts'
import { connectorFor, CONNECTORS } from './kinds.ts'
import { connectorContext, requireConnector, shownConnector } from './shown-connector.ts'
import { insertConnector } from './sql.ts'

interface NewConnector {
  tenant: string
  source: string
  url: string
  address: string
  credit?: number
  mapping?: IngestMapping
  tls_ca?: string
}

const EXAMPLE_URL = 'amqps://user:password@broker.example.com:5671'

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    return ![username, password, pathname].some((part) => decodeURIComponent(part).includes('\0'))
  } catch {
    return false
  }
}

/** Checks the URL of a broker. An error never repeats the URL, because it may hold a user and password. */
function checkUrl(text: string): { url: URL; connector: Connector } {
  const url = URL.parse(text)
  const connector = url && connectorFor(url)
  if (connector && url.hostname !== '' && isDecodable(url)) return { url, connector }
  const schemes = Object.values(CONNECTORS).flatMap(({ protocols }) => protocols.map((scheme) => `${scheme}//`))
  const expected = `a URL with a host that begins with ${schemes.join(' or ')}`
  throw invalid({ field: 'url', value: '[redacted]', expected, example: EXAMPLE_URL })
}

function checkCertificates(url: URL, { encrypted }: Connector, pem: string): void {
  const refuse = (expected: string) =>
    invalid({ field: 'tls_ca', value: pem, expected, example: '-----BEGIN CERTIFICATE-----\n…' })
  if (!encrypted.includes(url.protocol)) throw refuse(`no certificate, because the URL is not ${encrypted.join(' ')}//`)
  try {
    new X509Certificate(pem)
  } catch {
    throw refuse('certificates in PEM')
  }
}

export async function createConnector(
  db: Db,
  tools: IngestTools,
  wanted: NewConnector,
): Promise<{ connector: ShownConnector }> {
  const { url, connector } = checkUrl(wanted.url)
  if (wanted.tls_ca !== undefined) checkCertificates(url, connector, wanted.tls_ca)
  const mapping = completeMapping(wanted.mapping)
  const tenant = await requireTenant(db, wanted.tenant)
  const id = tools.makeId('connector')
  const masked = url.username !== '' || url.password !== '' ? '***@' : ''
  await insertConnector(db, {
    tenant_id: tenant.tenant_id,
    slug: tenant.slug,
    id,
    kind: connector.kind,
    source: wanted.source,
    url: tools.secrets.seal(wanted.url, connectorContext(id)),
    shown_url: `${url.protocol}//${masked}${url.host}${url.pathname === '/' ? '' : url.pathname}`,
    address: wanted.address,
    credit: wanted.credit ?? DEFAULT_CREDIT,
    mapping: JSON.stringify(mapping),
    tls_ca: wanted.tls_ca ?? null,
    paused: 0,
    created_at: tools.now(),
  })
  tools.announce(db, 'connectors', '')
  // From now on, event ids with this source's prefix are reserved for it.
  await recordRoutingChange(db, tenant.tenant_id, 'source', id, tools.now())
  return { connector: shownConnector(await requireConnector(db, id), tools.now()) }
}
