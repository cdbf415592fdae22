// Inbound webhooks: verify → map → publish.
//
// Nouns: a candidate is a secret that may have signed the body. A decoy is a secret that signed nothing.
//
// 1. Nothing of a body is believed, parsed or stored before its signature verified.
// 2. Which tenant exists cannot be learnt: a refusal says the same and costs the same, a lookup and as many HMACs as
//    the tenant with the most secrets that this node has met; where a tenant has fewer, or there is none, decoys make
//    up the number.
// 3. What verified is never lost: mapped or not, it is an event, and the answer comes after it is on disk.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Outcome, Publish } from '../../events/publish.ts'
import { badSignature, invalid, unsupportedMediaType } from '../../kernel/failure.ts'
import { mediaType, parseJson } from '../../kernel/json.ts'
import type { Secrets } from '../../kernel/secrets.ts'
import type { Store } from '../../store/db.ts'
import { webhookContext } from './shown-webhook.ts'
import { compileMapping, type FullMapping, type Mapper } from '../mapping.ts'
import { PRESET_MAPPINGS } from './presets.ts'
import { readClaims, verifies, type Claims, type SignatureHeader } from './signature.ts'
import { holdingSecrets, webhooksOfSlug, type WebhookRow } from './sql.ts'

export interface WebhookTools {
  store: Store
  secrets: Secrets
  publish: Publish
  now(): number
}

export type Receive = (slug: string, headers: IncomingHttpHeaders, raw: Buffer) => Promise<Outcome>

interface Candidate {
  sealed: string
  context: string
  /** Besides ours. */
  header: SignatureHeader | null
  webhook: WebhookRow | null
}

/** A rotation in each of two webhooks looks like no webhook at all. */
const LEAST_HMACS = 4
const MAX_MAPPERS = 1_000
const OWN_HEADER: SignatureHeader = 'x-service-signature'
const JSON_TYPE = 'application/json'
const EXAMPLE = { entity: 'order', action: 'created', id: 'o-1' }

export function makeReceive({ store, secrets, publish, now }: WebhookTools): Receive {
  const nobodys = secrets.seal(`whsec_${randomBytes(24).toString('base64url')}`, 'decoy')
  const decoy: Candidate = { sealed: nobodys, context: 'decoy', header: null, webhook: null }
  const mappers = new Map<string, Mapper>()
  let widest = LEAST_HMACS

  function candidatesOf(rows: readonly WebhookRow[], time: number): Candidate[] {
    return rows.flatMap((webhook) => {
      const header =
        webhook.preset === null
          ? null
          : (PRESET_MAPPINGS[webhook.preset as keyof typeof PRESET_MAPPINGS]?.header ?? null)
      const candidate = { context: webhookContext(webhook.id), header, webhook }
      return [webhook.secret, ...holdingSecrets(webhook, time).map(({ sealed }) => sealed)].map((sealed) => ({
        ...candidate,
        sealed,
      }))
    })
  }

  function signer(candidates: Candidate[], claims: Claims, raw: Buffer): WebhookRow {
    const names = Object.keys(claims) as SignatureHeader[]
    widest = Math.max(widest, candidates.length)
    while (candidates.length < widest) candidates.push(decoy)
    for (const { sealed, context, header, webhook } of candidates) {
      const secret = secrets.open(sealed, context)
      for (const name of names) {
        // Tried also where the header is not this webhook's: which headers one takes is nobody's business either.
        const fits = verifies(secret, raw, claims[name]!)
        if (fits && webhook !== null && (name === OWN_HEADER || name === header)) return webhook
      }
    }
    throw badSignature()
  }

  function mapperOf({ source, mapping }: WebhookRow): Mapper {
    const key = `${source} ${mapping}`
    let mapper = mappers.get(key)
    if (!mapper) {
      if (mappers.size >= MAX_MAPPERS) mappers.clear()
      mappers.set(key, (mapper = compileMapping(source, JSON.parse(mapping) as FullMapping)))
    }
    return mapper
  }

  return async (slug, headers, raw) => {
    const time = now()
    const rows = slug.includes('\0') ? [] : await webhooksOfSlug(store, slug)
    const webhook = signer(candidatesOf(rows, time), readClaims(headers, time), raw)
    const contentType = headers['content-type']
    if (mediaType(contentType) !== JSON_TYPE) throw unsupportedMediaType(contentType ?? '', [JSON_TYPE])
    // One level less: the body stands inside an envelope.
    const parsed = parseJson(raw, -1)
    if (!parsed.ok)
      throw invalid({ field: 'body', value: raw.toString('utf8', 0, 1000), expected: parsed.problem, example: EXAMPLE })
    const event = mapperOf(webhook).map({ body: parsed.value, raw, headers, now: time })
    const [outcome] = await publish({ tenantId: webhook.tenant_id, senderId: webhook.id, events: [event] })
    return outcome!
  }
}
