// What the commands for webhooks and connectors share: the five expressions of a mapping, and the address that is
// shown.
import type { IngestMapping } from '@sensorium/contract'
import type { Config } from '../../config.ts'

/** Each takes a CEL expression. */
const EXPRESSIONS = ['entity', 'action', 'id', 'subject', 'data'] as const

type Options = Readonly<Record<string, string | undefined>>

/** The expressions that were given; undefined where none was. */
export function mappingOf(options: Options): IngestMapping | undefined {
  const given = EXPRESSIONS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))
  return given.length === 0 ? undefined : (Object.fromEntries(given) as IngestMapping)
}

/** The number that a text says; any other text stays, for the check to refuse. */
export const numberOf = (text: string | undefined): number | string | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text

/** Where the service is reached, as far as its configuration tells. */
export function originOf({ publicUrl, host, port }: Config): string {
  if (publicUrl !== null) return publicUrl
  const name = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)
    ? 'localhost'
    : host.includes(':')
      ? `[${host}]`
      : host
  return `http://${name}:${port}`
}
