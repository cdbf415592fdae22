// Memories of the plant's agents: some sixty that belong together, added by one import.
import type { Client, ImportLine } from '@sensorium/client'

export interface PlantMemories {
  /** The memory with the most relationships. */
  hall: string
  /** A memory that was changed twice. */
  changed: string
  count: number
}

const PUMPS = 9
const FAULTS = ['a worn bearing', 'scale in the heat exchanger', 'a valve that sticks', 'air in the intake'] as const
const DAY_MS = 86_400_000

type Line = Extract<ImportLine, { title: string }>
type Edge = [
  from: string,
  type: 'caused_by' | 'related_to' | 'contradicts' | 'supports' | 'derived_from' | 'part_of',
  to: string,
  strength: number,
]

function ofPump(pump: number): { lines: Line[]; edges: Edge[] } {
  const fault = FAULTS[pump % FAULTS.length]!
  const id = (name: string) => `${name}-${pump}`
  const common = {
    scope: pump % 3 === 0 ? 'agent' : 'institutional',
    project_id: pump % 2 === 0 ? 'cooling' : 'upkeep',
  } as const
  const metadata = { pump, hall: 'north', row: pump % 4, tags: ['pump', pump % 2 === 0 ? 'cooling' : 'upkeep'] }
  const lines: Line[] = [
    {
      ...common,
      id: id('entity'),
      type: 'entity',
      title: `Pump ${pump}`,
      content: `Pump ${pump} stands in row ${pump % 4} of the north hall. It was rebuilt in ${2014 + pump} and moves ${40 + pump * 3} litres a second.`,
      importance: 0.8,
      metadata,
    },
    {
      ...common,
      id: id('episode'),
      type: 'episodic',
      title: `Pump ${pump} ran hot on Tuesday`,
      content: `Pump ${pump} reached ${91 + pump} degrees at 14:${10 + pump} and was shut down by hand. It took ${20 + pump} minutes to cool.`,
      confidence: 0.9,
      source_event_id: `reading-${pump + 1}`,
      metadata,
    },
    {
      ...common,
      id: id('cause'),
      type: 'semantic',
      title: `Pump ${pump} overheats because of ${fault}`,
      content: `Three times out of four, when pump ${pump} is too hot, the reason was ${fault}. Check it first.`,
      confidence: 0.55 + pump * 0.05,
      importance: 0.7,
      metadata,
    },
    {
      ...common,
      id: id('procedure'),
      type: 'procedural',
      title: `How to cool pump ${pump} down`,
      content: `Open the bypass of pump ${pump}, halve its speed, wait until it is under 70 degrees, then look for ${fault}.`,
      importance: 0.9,
      metadata,
    },
    {
      ...common,
      id: id('reasoning'),
      type: 'reasoning',
      title: `Why pump ${pump} was not replaced`,
      content: `A new pump costs more than four repairs, and pump ${pump} has had ${pump % 3} this year.`,
      importance: 0.3,
      confidence: 0.7,
      metadata,
    },
    {
      ...common,
      id: id('visit'),
      type: 'episodic',
      title: `Visit to pump ${pump}`,
      content: `The dispatcher sent somebody to pump ${pump}. They found ${fault} and wrote it down.`,
      metadata,
    },
  ]
  const edges: Edge[] = [
    [id('entity'), 'part_of', 'hall', 1],
    [id('episode'), 'caused_by', id('cause'), 0.5 + pump * 0.05],
    [id('episode'), 'related_to', id('entity'), 0.6],
    [id('procedure'), 'derived_from', id('episode'), 0.8],
    [id('visit'), 'supports', id('cause'), 0.9],
    [id('reasoning'), 'related_to', id('entity'), 0.3],
    [id('cause'), 'supports', `fault-${pump % FAULTS.length}`, 0.7],
  ]
  return { lines, edges }
}

const WHOLE: Line[] = [
  {
    id: 'hall',
    type: 'entity',
    scope: 'institutional',
    title: 'The north hall',
    content: 'Nine pumps in four rows. Its doors open to the yard, and in summer it is the warmest of the halls.',
    importance: 1,
  },
  {
    id: 'summer',
    type: 'reflection',
    scope: 'institutional',
    title: 'Pumps run hot when the doors are shut',
    content:
      'Most of the hot readings came while the doors of the north hall were shut. The fault may be the air, not the pumps.',
    importance: 0.95,
    confidence: 0.6,
  },
  ...FAULTS.map(
    (fault, index): Line => ({
      id: `fault-${index}`,
      type: 'semantic',
      scope: 'institutional',
      title: `The sign of ${fault}`,
      content: `One knows ${fault} by the sound before the temperature shows it.`,
    }),
  ),
]

export async function buildMemories(triage: Client): Promise<PlantMemories> {
  const pumps = Array.from({ length: PUMPS }, (_, pump) => ofPump(pump))
  const lines = [...WHOLE, ...pumps.flatMap((of) => of.lines)]
  const newest = Date.now() - 60_000
  const edges = pumps.flatMap((of) => of.edges)
  for (let pump = 0; pump < PUMPS; pump += 2) edges.push(['summer', 'contradicts', `cause-${pump}`, 0.4])
  edges.push(['summer', 'derived_from', 'hall', 0.8])
  const dated = lines.map((line, index) => ({
    ...line,
    created_at: new Date(newest - (lines.length - index) * (DAY_MS / 6)).toISOString(),
  }))
  const related = edges.map(([source_memory_id, relationship_type, target_memory_id, strength]) => ({
    source_memory_id,
    target_memory_id,
    relationship_type,
    strength: Math.min(1, strength),
  }))
  const { created, failed, errors } = await triage.memory.import([...dated, ...related])
  if (failed > 0 || created !== dated.length + related.length) throw new Error(JSON.stringify({ created, errors }))
  const idOf = async (title: string): Promise<string> => {
    const { memories } = await triage.memory.list({ search: title })
    return memories.find((memory) => memory.title === title)!.id
  }
  const changed = await idOf('How to cool pump 1 down')
  await triage.memory.update(changed, { confidence: 0.8, content: 'Open the bypass of pump 1 and halve its speed.' })
  await triage.memory.update(changed, { importance: 1, metadata: { pump: 1, hall: 'north', reviewed: true } })
  return { hall: await idOf('The north hall'), changed, count: lines.length }
}
