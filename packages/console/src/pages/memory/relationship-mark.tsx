import { RELATIONSHIP_TYPES, type RelationshipType } from './relationship-types.ts'

const NARROWEST = 1
const WIDEST = 5

/** A line as wide as the relationship is strong, in the colour of its type, with the name of the type. */
export function RelationshipMark({
  type,
  strength,
  isOut,
}: {
  type: RelationshipType
  strength: number
  isOut: boolean
}) {
  const said = RELATIONSHIP_TYPES[type]
  return (
    <span className="relationship-mark">
      <i style={{ height: NARROWEST + (WIDEST - NARROWEST) * strength, background: `var(${said.color})` }} />
      <span className="quiet">{isOut ? said.out : said.in}</span>
    </span>
  )
}
