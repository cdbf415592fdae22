// Inbound webhooks: verify → map → publish.
//
// 1. No part of a body is trusted, parsed or stored before its signature is verified.
// 2. A caller cannot learn which tenants or webhooks exist: every refusal has the same text, costs the same
//    (`verify.ts`) and is sent at a full step of the clock, so that its timing reveals nothing either.
// 3. A verified body is never lost: mapped or not, it becomes an event, and the response is sent after it is on disk.
//    That holds if its client is gone before that, too: not every provider sends again what had no response.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Publish } from '../../events/publish.ts'
import type { PublishOutcome } from '../../events/submission.ts'
import { badSignature, Failure } from '../../kernel/failure.ts'
import type { Secrets } from '../../kernel/secrets.ts'
import { inSteps, nextTurn } from '../../kernel/step-turns.ts'
import type { Store } from '../../store/db.ts'
import { compileMapping, type FullMapping, type Mapper } from '../mapping.ts'
import type { WebhookLimits } from './limits.ts'
import { hmacSha256, makeHmacTurns, HASHED_HERE_BYTES, type Hmac } from './hmac.ts'
import { PRESETS } from './presets.ts'
import { readBody } from './read-body.ts'
import { readClaim, type SentHeaders } from './signature.ts'
import { webhookOfSlug, webhooksOfSlug, type WebhookRow } from './sql.ts'
import { makeVerify } from './verify.ts'

interface ReceiveTools {
  store: Store
  secrets: Secrets
  publish: Publish
  now(): number
  limits: WebhookLimits
  hmac?: Hmac
}

/** A request to `/ingest/w/<slug>` or, with a webhook's id, to the URL of that webhook alone. */
export interface Arrived {
  slug: string
  webhookId: string | null
  headers: SentHeaders
  raw: Buffer
  /** The client's address. */
  address: string
}

export type Receive = (arrived: Arrived) => Promise<PublishOutcome>

/** A refusal is sent at a multiple of this after the request: more than look-ups differ by, too little to disturb. */
const REFUSAL_STEP_MS = 10
const MAX_MAPPERS = 1_000

export function makeReceive({ store, secrets, publish, now, limits, hmac = hmacSha256 }: ReceiveTools): Receive {
  const verify = makeVerify(secrets, hmac)
  const takeTurn = makeHmacTurns()
  const mappers = new Map<string, Mapper>()

  function rowsFor({ slug, webhookId }: Arrived): Promise<WebhookRow[]> {
    if (slug.includes('\0') || webhookId?.includes('\0')) return Promise.resolve([])
    return webhookId === null ? webhooksOfSlug(store, slug) : webhookOfSlug(store, slug, webhookId)
  }

  async function signer(arrived: Arrived, time: number): Promise<WebhookRow> {
    const { slug, webhookId, headers, raw, address } = arrived
    const urlKind = webhookId === null ? 'tenant' : 'webhook'
    limits.begin(urlKind, address)
    const claim = readClaim(headers, time)
    if (!claim) throw badSignature()
    const rows = await rowsFor(arrived)
    const work = (): Promise<WebhookRow> => verify(urlKind, rows, claim, raw, time)
    return raw.length <= HASHED_HERE_BYTES ? work() : takeTurn(address, slug, raw.length, work)
  }

  function mapperOf({ source, preset, mapping }: WebhookRow): Mapper {
    const key = `${source} ${preset} ${mapping}`
    let mapper = mappers.get(key)
    if (!mapper) {
      if (mappers.size >= MAX_MAPPERS) mappers.clear()
      const compact = preset === null ? undefined : PRESETS[preset]?.compact
      mappers.set(key, (mapper = compileMapping(source, JSON.parse(mapping) as FullMapping, compact)))
    }
    return mapper
  }

  return async (arrived) => {
    const started = performance.now()
    const time = now()
    const webhook = await signer(arrived, time).catch(async (error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'authentication_failed') throw error
      await sleep(REFUSAL_STEP_MS - ((performance.now() - started) % REFUSAL_STEP_MS))
      await limits.refused(arrived.address)
      throw error
    })
    await limits.verified(webhook.tenant_id)
    const { headers } = arrived
    const body = await readBody(headers, arrived.raw, webhook.preset)
    const event = await inSteps(mapperOf(webhook).map({ ...body, headers, now: time }), nextTurn)
    const [outcome] = await publish({
      tenantId: webhook.tenant_id,
      senderId: webhook.id,
      events: [event],
      isIngested: true,
    })
    return outcome!
  }
}
