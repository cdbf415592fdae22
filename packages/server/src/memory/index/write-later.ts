// Writes the words of long texts after the transactions of their verbs, a part in a transaction. The 8,192 different
// words of one memory took SQLite 5 ms of a commit for which everybody waited, and PostgreSQL 200 ms of a processor.
//
// 1. Parts are written one at a time. Tenants take turns, and agents inside a tenant.
// 2. A part is written only while the text is still the one that was put: another change has words of its own.
// 3. A memory whose last part is missing, because the service ended or the store was away, is indexed again
//    (reword.ts).
import { makeCounts } from '../../kernel/counts.ts'
import { makeTurns } from '../../kernel/turns.ts'
import type { Store } from '../../store/db.ts'
import type { EngineWriter } from './engine-writer.ts'
import type { Named } from './memory-index.ts'

/** Texts whose words wait to be written, before the next is analysed: each takes up to 1.5 MB. */
const MOST_WAITING = 4

/** The words of a text that was put without them. */
interface MissingWords<W> extends Named {
  agent_id: string
  version: number
  parts: readonly W[]
}

interface WriteLater<W> {
  /** Resolves when the words are written, when the text has changed, or when it is left to be indexed again. */
  write(missing: MissingWords<W>): Promise<void>
  /** Whether the words of a memory are being written. */
  isUnderWay(memory: Named): boolean
  /** Resolves when few texts wait. */
  hasRoom(): Promise<void>
}

export function makeWriteLater<W>(
  store: Pick<Store, 'tx'>,
  engine: Pick<EngineWriter<W>, 'addWords' | 'noteChange'>,
  failed: (error: unknown) => void,
): WriteLater<W> {
  const turns = makeTurns({ what: 'long texts to be written', atOnce: 1 })
  const waitingForRoom: (() => void)[] = []
  const underWay = makeCounts()
  let unwritten = 0

  const nameOf = ({ tenant_id, id }: Named): string => `${tenant_id} ${id}`

  const writePart = ({ tenant_id, id, agent_id, version, parts }: MissingWords<W>, part: number): Promise<boolean> =>
    turns.take(tenant_id, agent_id, () =>
      store.tx(
        async (tx) => {
          const isLast = part === parts.length - 1
          const words = { tenant_id, id, version, words: parts[part]!, part, isLast }
          if (!(await engine.addWords(tx, words))) return false
          if (isLast) engine.noteChange(tx, tenant_id, id)
          return true
        },
        { caller: { tenantId: tenant_id, id: agent_id } },
      ),
    )

  return {
    async write(missing) {
      const name = nameOf(missing)
      underWay.add(name, 1)
      unwritten++
      try {
        for (let part = 0; part < missing.parts.length && (await writePart(missing, part)); part++);
      } catch (error) {
        failed(error) // the memory is indexed again later
      } finally {
        unwritten--
        underWay.add(name, -1)
        for (const look of waitingForRoom.splice(0)) look()
      }
    },
    isUnderWay: (memory) => underWay.has(nameOf(memory)),
    async hasRoom() {
      while (unwritten >= MOST_WAITING) await new Promise<void>((resolve) => void waitingForRoom.push(resolve))
    },
  }
}
