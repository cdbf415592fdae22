// Imports memories and relationships, a line of JSON each, as an export writes them.
//
// 1. Lines are taken a few at a time, each group in a transaction of its own, with a pause for other requests between
//    two: a hundred mebibytes hold nobody up. An import is not one transaction.
// 2. A line that is refused is reported with its number, and the others go on.
// 3. The same lines again change nothing and count as skipped, so an import that was interrupted can be run again.
import { MemoryLine, RelationshipLine, type Static } from '@sensorium/contract'
import type { Principal } from '../../auth/principal.ts'
import { Failure, invalid, tooLarge } from '../../kernel/failure.ts'
import { readMembers, type MemberChoice } from '../../kernel/json-members.ts'
import { nextTurn } from '../../kernel/step-turns.ts'
import type { Db, Store } from '../../store/db.ts'
import type { MemoryIndex } from '../index/memory-index.ts'
import { prepareTexts, type PreparedTexts } from '../prepare-texts.ts'
import type { MemoryTools } from '../remember.ts'
import { importMemory, type ImportOutcome } from './import-memory.ts'
import { importRelationship } from './import-relationship.ts'
import { linesOf, type Line } from './lines.ts'
import { originOfLine } from './origin.ts'

/** Lines in a transaction, and their bytes: about ten milliseconds of the embedded store. */
const GROUP = 8
const GROUP_BYTES = 32_768
/** Refused lines that are reported; `failed` counts all. */
const MAX_ERRORS = 1_000

type MemoryWanted = Static<typeof MemoryLine>
type RelationshipWanted = Static<typeof RelationshipLine>
interface WantedMemory {
  memory: MemoryWanted
  origin: string
  prepared?: PreparedTexts
}
type ImportLine = WantedMemory | { relationship: RelationshipWanted }

export interface ImportTools extends MemoryTools {
  index: Pick<MemoryIndex, 'analyseAhead' | 'put' | 'remove'>
  store: Store
  /** Called in the first transaction. */
  begun(tx: Db): Promise<void>
  maxLineBytes: number
  /** Returns what is wrong with a line of its kind, as the details of a refusal; null if nothing is. */
  checkMemory(line: unknown): Parameters<typeof invalid>[0] | null
  checkRelationship(line: unknown): Parameters<typeof invalid>[0] | null
}

interface Imported {
  created: number
  updated: number
  skipped: number
  failed: number
  errors: { line: number; error: { code: string; message: string; details: unknown } }[]
}

const MEMBERS: MemberChoice = {
  names: new Set([...Object.keys(MemoryLine.properties), ...Object.keys(RelationshipLine.properties)]),
  asText: new Set(['metadata']),
}

async function read(line: Line, principal: Principal, tools: ImportTools): Promise<ImportLine | Failure> {
  if (line.bytes === null) return tooLarge(line.size, tools.maxLineBytes)
  const parsed = await readMembers(line.bytes, MEMBERS)
  if (!parsed.ok)
    return invalid({ field: 'body', value: line.bytes.toString('utf8', 0, 200), expected: parsed.problem, example: {} })
  const { value } = parsed
  const isRelationship = typeof value === 'object' && value !== null && 'relationship_type' in value
  const wrong = isRelationship ? tools.checkRelationship(value) : tools.checkMemory(value)
  if (wrong) return invalid(wrong)
  if (isRelationship) return { relationship: value as RelationshipWanted }
  const memory = value as MemoryWanted
  try {
    return { memory, origin: await originOfLine(principal, memory, tools.now()) }
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

/** Yields groups of lines, one for each transaction. */
async function* groupsOf(lines: AsyncIterable<Line>): AsyncGenerator<Line[]> {
  let group: Line[] = []
  let bytes = 0
  for await (const line of lines) {
    group.push(line)
    bytes += line.size
    if (group.length < GROUP && bytes < GROUP_BYTES) continue
    yield group
    group = []
    bytes = 0
  }
  if (group.length > 0) yield group
}

interface Waiting {
  /** Whether the client has gone away. */
  isGone(): boolean
  /** Rejects when the caller's token has ended. */
  mayGoOn(): Promise<void>
}

export async function importMemories(
  tools: ImportTools,
  principal: Principal,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { isGone, mayGoOn }: Waiting,
): Promise<Imported> {
  const waiting = { ...principal, isGone }
  let isBegun = false
  const imported: Imported = { created: 0, updated: 0, skipped: 0, failed: 0, errors: [] }

  function count(line: number, outcome: ImportOutcome | Failure): void {
    if (!(outcome instanceof Failure)) return void imported[outcome]++
    imported.failed++
    const { code, message, details } = outcome
    if (imported.errors.length < MAX_ERRORS) imported.errors.push({ line, error: { code, message, details } })
  }

  /** Writes a group in one transaction, which may be run again from its beginning. */
  const write = (group: readonly (ImportLine | Failure)[]): Promise<(ImportOutcome | Failure)[]> =>
    tools.store.tx(async (tx) => {
      if (!isBegun) await tools.begun(tx)
      tx.afterCommit(() => (isBegun = true))
      const outcomes: (ImportOutcome | Failure)[] = []
      for (const wanted of group) {
        try {
          if (wanted instanceof Failure) throw wanted
          // A verb refuses before it writes, so the lines written before this one stand.
          const outcome =
            'memory' in wanted
              ? await importMemory(tx, tools, principal, wanted.memory, wanted.origin, wanted.prepared?.kept)
              : await importRelationship(tx, tools, principal, wanted.relationship)
          outcomes.push(outcome)
        } catch (error) {
          // What is not a refusal of the line may come after it began to write.
          if (!(error instanceof Failure) || error.status >= 500) throw error
          outcomes.push(error)
        }
      }
      return outcomes
    })

  for await (const group of groupsOf(linesOf(body, tools.maxLineBytes))) {
    if (isGone()) throw new Error('the client went away')
    await mayGoOn()
    const wanted: (ImportLine | Failure)[] = []
    for (const line of group) wanted.push(await read(line, principal, tools))
    const memories = wanted.filter((line) => 'memory' in line)
    try {
      for (const line of memories) line.prepared = await prepareTexts(tools, waiting, line.memory)
      const outcomes = await write(wanted)
      group.forEach(({ number }, i) => count(number, outcomes[i]!))
    } finally {
      for (const { prepared } of memories) await prepared?.ended()
    }
    await nextTurn()
  }
  return imported
}
