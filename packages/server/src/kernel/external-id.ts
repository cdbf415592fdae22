// The name of a thing in another system, when it stands in a path. In a body the schema checks it.
import { invalid } from './failure.ts'
import { isFilledText } from './formats.ts'

const MAX_EXTERNAL_ID = 255

/** Returns the external id in the path. Throws if the id is invalid, or if the body has another one. */
export function externalIdOf(path: string, body: { external_id?: string | null }): string {
  const refuse = (value: unknown, expected: string, example: string) =>
    invalid({ field: 'external_id', value, expected, example })
  if (!isFilledText(path) || [...path].length > MAX_EXTERNAL_ID || !path.isWellFormed())
    throw refuse(path, `a non-empty string of at most ${MAX_EXTERNAL_ID} characters`, 'crm-4711')
  const { external_id: said } = body
  if (said !== undefined && said !== null && said !== path)
    throw refuse(said, 'the external id of the path, or none', path)
  return path
}
