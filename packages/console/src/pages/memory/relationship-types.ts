import type { Relationship } from '@sensorium/client'

export type RelationshipType = Relationship['relationship_type']

/** The name of each type in both directions, and its colour wherever it is drawn. */
export const RELATIONSHIP_TYPES = {
  related_to: { out: 'related to', in: 'related to', color: '--quiet' },
  supports: { out: 'supports', in: 'supported by', color: '--series-1' },
  contradicts: { out: 'contradicts', in: 'contradicted by', color: '--series-4' },
  caused_by: { out: 'caused by', in: 'led to', color: '--series-3' },
  derived_from: { out: 'derived from', in: 'source of', color: '--series-2' },
  part_of: { out: 'part of', in: 'has part', color: '--series-5' },
} as const satisfies Record<RelationshipType, { out: string; in: string; color: `--${string}` }>

export const TYPE_NAMES = Object.keys(RELATIONSHIP_TYPES) as RelationshipType[]
