// What a client of MCP sent, as a value: bounded before it is parsed, in size and in depth, like every other body.
import { readBody } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import type { BodyTurns } from '../http/body-turns.ts'
import { isLong, parseBody } from '../kernel/json-steps.ts'

/** Around the arguments of a tool stand the message and its parameters. */
const ENVELOPE_DEPTH = 2
/** Longer addresses are nobody's: ids have 30 characters. */
const MAX_URI_LENGTH = 2_048

export type Messages = { ok: true; value: unknown; count: number } | { ok: false; code: number; problem: string }

interface Message {
  method?: unknown
  params?: { uri?: unknown } | null
}

const wrongUri = (message: unknown): boolean => {
  const uri = (message as Message | null)?.params?.uri
  return typeof uri === 'string' && uri.length > MAX_URI_LENGTH
}

/** Undefined where nothing was sent. */
export async function readMessages(
  exchange: Exchange,
  maxBytes: number,
  turns: BodyTurns,
): Promise<Messages | undefined> {
  if (!exchange.hasBody) return undefined
  const bytes = await readBody(exchange, maxBytes)
  if (exchange.method !== 'POST' || bytes.length === 0) return undefined
  const parse = () => parseBody(bytes, { extraDepth: ENVELOPE_DEPTH }, turns.pauseOf(exchange))
  const parsed = await (isLong(bytes) ? turns.inTurnOf(exchange)(parse) : parse())
  if (!parsed.ok) return { ok: false, code: -32700, problem: `Parse error: expected ${parsed.problem}` }
  const { value } = parsed
  const messages = Array.isArray(value) ? value : [value]
  if (messages.some(wrongUri))
    return { ok: false, code: -32602, problem: `Invalid params: a uri has at most ${MAX_URI_LENGTH} characters` }
  return { ok: true, value, count: messages.length }
}

/** Whether it asks for a stream of notifications, which stays open. */
export const isListening = (messages: Messages | undefined): boolean =>
  messages?.ok === true && (messages.value as Message | null)?.method === 'subscriptions/listen'
