// Reads the messages of an MCP client. Size and depth are bounded before parsing, as for every other body.
import { readBody } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import type { BodyTurns } from '../http/body-turns.ts'
import { mayHoldLongNumber } from '../kernel/json.ts'
import { isLong, parseBody, type ParseOptions } from '../kernel/json-steps.ts'
import { makeMemberLimit, TooManyMembers } from './member-limit.ts'

/** The arguments of a tool are nested in the message and its parameters. */
const ENVELOPE_DEPTH = 2
/** The library repeats the id in each notification of a subscription. Clients count, or use a UUID. */
export const MAX_ID_LENGTH = 255
/** No resource has a longer URI: ids have 30 characters. */
const MAX_URI_LENGTH = 2_048

/** What a client sent, as JSON. */
export interface Messages {
  ok: true
  value: unknown
  count: number
}

interface Wrong {
  ok: false
  code: number
  problem: string
}

interface Message {
  id?: unknown
  method?: unknown
  params?: { uri?: unknown } | null
}

const wrongUri = (message: unknown): boolean => {
  const uri = (message as Message | null)?.params?.uri
  return typeof uri === 'string' && uri.length > MAX_URI_LENGTH
}

const wrongId = (message: unknown): boolean => {
  const id = (message as Message | null)?.id
  return typeof id === 'string' && id.length > MAX_ID_LENGTH
}

const callsTool = (message: unknown): message is { params: { arguments?: unknown } } => {
  const { method, params } = (message ?? {}) as Message
  return method === 'tools/call' && typeof params === 'object' && params !== null
}

/** Reads the messages of a request. Returns undefined if there is no body. */
export async function readMessages(
  exchange: Exchange,
  maxBytes: number,
  turns: BodyTurns,
): Promise<Messages | Wrong | undefined> {
  if (!exchange.hasBody) return undefined
  const bytes = await readBody(exchange, maxBytes)
  if (exchange.method !== 'POST' || bytes.length === 0) return undefined
  const parse = async (options: ParseOptions) => {
    const now = () => parseBody(bytes, { extraDepth: ENVELOPE_DEPTH, ...options }, turns.pauseOf(exchange))
    return isLong(bytes) ? turns.inTurnOf(exchange)(now) : now()
  }
  const parsed = await parse({ onMember: makeMemberLimit() }).catch((error: unknown) => {
    if (error instanceof TooManyMembers) return error
    throw error
  })
  if (parsed instanceof TooManyMembers) return { ok: false, code: -32602, problem: `Invalid params: ${parsed.message}` }
  if (!parsed.ok) return { ok: false, code: -32700, problem: `Parse error: expected ${parsed.problem}` }
  const { value } = parsed
  const messages: unknown[] = Array.isArray(value) ? value : [value]
  if (messages.some(wrongId))
    return { ok: false, code: -32600, problem: `Invalid Request: an id has at most ${MAX_ID_LENGTH} characters` }
  // The arguments of a tool may be an event, whose numbers stay exact. The library handles only JavaScript's numbers,
  // so everything around the arguments is as JSON.parse returns it.
  if (messages.some(callsTool) && mayHoldLongNumber(bytes)) {
    const exact = await parse({ exactNumbers: true })
    const exactly = exact.ok ? (Array.isArray(exact.value) ? exact.value : [exact.value]) : []
    for (const [i, message] of messages.entries())
      if (callsTool(message) && 'arguments' in message.params)
        message.params.arguments = (exactly[i] as typeof message).params.arguments
  }
  if (messages.some(wrongUri))
    return { ok: false, code: -32602, problem: `Invalid params: a uri has at most ${MAX_URI_LENGTH} characters` }
  return { ok: true, value, count: messages.length }
}

/** Returns whether the message asks for a stream of notifications, which stays open. */
export const isListening = (messages: Messages | undefined): boolean =>
  (messages?.value as Message | null | undefined)?.method === 'subscriptions/listen'
