// Shared by the commands for webhooks and connectors: what is needed, the five expressions of a mapping, and the URL of
// the service.
import type { IngestMapping } from '@sensorium/contract'
import type { Config } from '../../config.ts'
import { UsageError } from '../command.ts'

/** Each takes a CEL expression. */
const EXPRESSIONS = ['entity', 'action', 'id', 'subject', 'data'] as const

type Options = Readonly<Record<string, string | undefined>>

/** Returns the expressions that were given, or undefined if there were none. */
export function mappingOf(options: Options): IngestMapping | undefined {
  const given = EXPRESSIONS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))
  return given.length === 0 ? undefined : (Object.fromEntries(given) as IngestMapping)
}

/** Returns a value that the command cannot do without. `named` is what gives it. */
export function needed(value: string | undefined, named: string): string {
  if (value === undefined) throw new UsageError(`${named} is missing`, named)
  return value
}

/** Converts a text to a number. Any other text is returned as it is, for the check to refuse. */
export const numberOf = (text: string | undefined): number | string | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text

/** Returns the URL of the service, as far as its configuration tells. */
export function originOf({ publicUrl, host, port }: Config): string {
  if (publicUrl !== null) return publicUrl
  const name = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)
    ? 'localhost'
    : host.includes(':')
      ? `[${host}]`
      : host
  return `http://${name}:${port}`
}
