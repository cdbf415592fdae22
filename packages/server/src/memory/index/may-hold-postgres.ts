// Selects the memories that can hold a text, by their array of grams.
import { askedOf, audiencesFor, gramArray, seedOf, type MayHold } from './grams.ts'

export const mayHold: MayHold = (viewer, needle) => {
  const seed = seedOf(viewer.tenantId)
  const { grams, characters } = askedOf(needle, seed)
  const audiences = audiencesFor(viewer, seed)
  return {
    sql: `t.tenant_id = ? and (t.grams @> ?::integer[] or t.grams @> ?::integer[])
          ${audiences.length > 0 ? 'and t.grams && ?::integer[]' : ''}`,
    values: [
      viewer.tenantId,
      gramArray(grams),
      gramArray(characters),
      ...(audiences.length > 0 ? [gramArray(audiences)] : []),
    ],
  }
}
