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

/** As JSON.parse has it, in place: the library knows no other numbers. */
function rounded(value: unknown, isKept: (name: string) => boolean = () => false): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  const holder = value as Record<string, unknown>
  for (const name in holder) if (!isKept(name)) holder[name] = rounded(holder[name])
  return value
}

/** Only what a tool is given keeps its long numbers. */
function roundAround(message: unknown): unknown {
  const { method, params } = (message ?? {}) as Message
  if (method !== 'tools/call' || typeof params !== 'object') return rounded(message)
  rounded(params, (name) => name === 'arguments')
  return rounded(message, (name) => name === 'params')
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
  // The arguments of a tool may be an event, whose numbers stay what they are.
  const parse = () => parseBody(bytes, { extraDepth: ENVELOPE_DEPTH, exactNumbers: true }, turns.pauseOf(exchange))
  const parsed = await (isLong(bytes) ? turns.inTurnOf(exchange)(parse) : parse())
  if (!parsed.ok) return { ok: false, code: -32700, problem: `Parse error: expected ${parsed.problem}` }
  const value = Array.isArray(parsed.value) ? parsed.value.map(roundAround) : roundAround(parsed.value)
  const messages: unknown[] = Array.isArray(value) ? value : [value]
  if (messages.some(wrongUri))
    return { ok: false, code: -32602, problem: `Invalid params: a uri has at most ${MAX_URI_LENGTH} characters` }
  return { ok: true, value, count: messages.length }
}

/** Whether it asks for a stream of notifications, which stays open. */
export const isListening = (messages: Messages | undefined): boolean =>
  messages?.ok === true && (messages.value as Message | null)?.method === 'subscriptions/listen'
