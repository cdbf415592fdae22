// Applies a mapping to a body in the page, with the same language and the same rules as the service. The result is a
// preview; how the service reads a body that is sent is what counts.
import type { IngestMapping } from '@sensorium/client'
import { loadCode } from '../../components/load-code.ts'

export interface Reading {
  type: string
  /** Null if the service derives it from a hash of the body. */
  id: string | null
  subject: string | null
  data: unknown
  /** Why a part, given by its name, could not be read. */
  problems: readonly { part: keyof IngestMapping; why: string }[]
}

type ReadSample = (body: unknown, headers: Readonly<Record<string, string>>) => Reading

/** Only the service can make the short block of a preset. */
const COMPACT = 'the preset makes a short block of the body, which only the service can'

const asName = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null

function asId(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null
  return typeof value === 'string' && value !== '' ? value : null
}

const sanitised = (part: string): string => part.toLowerCase().replace(/[^a-z0-9_-]/gu, '_')

const present = (values: Record<string, string | null>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))

/** Loads the filter language and returns a function that reads samples with it. */
export async function makeReadSample(source: string, mapping: IngestMapping): Promise<ReadSample> {
  const { compileExpression } = await loadCode(() => import('@sensorium/cel'))
  return (body, headers) => {
    const problems: { part: keyof IngestMapping; why: string }[] = []
    const outside = { body, headers }
    function read(part: keyof IngestMapping, bindings: Record<string, unknown>): unknown {
      try {
        return compileExpression(mapping[part] ?? '', Object.keys(bindings)).evaluate(bindings)
      } catch (error) {
        problems.push({ part, why: (error as Error).message })
        return undefined
      }
    }
    const entity = asName(read('entity', outside))
    const action = asName(read('action', outside))
    const id = asId(read('id', outside))
    // Missing names are bound to undefined: a subject that reads one then has no value, rather than a mistake.
    const named = { entity: undefined, action: undefined, id: undefined, ...present({ entity, action, id }) }
    const subject = id === null ? null : asName(read('subject', { ...outside, ...named }))
    const isWhole = mapping.data === 'body'
    const readsCompact = mapping.data?.includes('compact') ?? false
    if (readsCompact) problems.push({ part: 'data', why: COMPACT })
    const data = isWhole || readsCompact ? body : read('data', outside)
    const isMapped = entity !== null && action !== null && data !== undefined
    return {
      type: isMapped ? `com.${source}.${sanitised(entity)}.${sanitised(action)}` : `com.${source}.unmapped.received`,
      id: id === null ? null : `${source}:${id}`,
      subject,
      data: isMapped ? data : body,
      problems,
    }
  }
}
