// Structured logs: JSON lines on standard output. Written from a buffer, because a write per request would cost more than the
// request; warnings and worse are flushed at once.
import { pino, type Logger as PinoLogger } from 'pino'

export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'flush' | 'isLevelEnabled'>

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export function makeLogger(level: string): Logger {
  const destination = pino.destination({ dest: 1, sync: false, minLength: 8192, periodicFlush: 200 })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } }, destination)
}
