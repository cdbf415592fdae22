// The state of a memory's index, the same on both engines: the version of its text, and by which rules its words were
// made. Two writers of one memory lock its row in turn before they touch its words and vectors; a writer of several
// memories locks them in the order of their ids. Each function returns the columns that its caller names.
import { one, type Db } from '../../store/db.ts'
import type { IndexedWords, LaterWords } from './engine-writer.ts'
import { WORD_RULES } from './terms.ts'

/**
 * A memory whose words are not all there has words by no rules: if the service ends meanwhile, it is indexed again
 * (reword.ts).
 */
const NO_RULES = 0

/**
 * Selects words that older rules made, and memories whose words are not all there. Written as in the partial index over
 * them: new rules need another index.
 */
export const OLD_WORDS = `word_rules < ${WORD_RULES}`

const rulesOf = ({ parts }: IndexedWords<unknown>): number => (parts.length > 0 ? WORD_RULES : NO_RULES)

/**
 * Returns a random version. A memory that is deleted and created again thus has other versions than before, so that
 * vectors of its old text that arrive late are not taken for those of the new one.
 */
const firstVersion = (): number => 1 + Math.floor(Math.random() * 2 ** 40)

/** For a new text. Also returns whether the state is new, so that there are no words to delete. */
export async function putState<R>(
  tx: Db,
  words: IndexedWords<unknown>,
  columns: string,
): Promise<R & { version: number; isNew: boolean }> {
  const first = firstVersion()
  // Not embedded, not claimed, with the next version. Only a new row has the first one.
  const row = await one<R & { version: number }>(
    tx,
    `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until, word_rules) values (?, ?, ?, ?, '', 0, ?)
     on conflict (tenant_id, memory_id) do update set length = excluded.length, version = memory_recall.version + 1, embedded = '', claimed_until = 0, retry_at = 0, word_rules = excluded.word_rules
     returning ${columns}`,
    [words.tenant_id, words.id, words.length, first, rulesOf(words)],
  )
  return { ...row!, isNew: row!.version === first }
}

/** For the same text with new words. Returns nothing if the text is no longer at this version, or has its words. */
export const replaceState = <R>(
  tx: Db,
  words: IndexedWords<unknown>,
  version: number,
  columns: string,
): Promise<R | undefined> =>
  // If words are written after this transaction, the version becomes another: nobody goes on with words of this one.
  one<R>(
    tx,
    `update memory_recall set word_rules = ?, length = ?, version = version + ?
      where tenant_id = ? and memory_id = ? and version = ? and ${OLD_WORDS} returning ${columns}`,
    [rulesOf(words), words.length, words.parts.length > 0 ? 0 : 1, words.tenant_id, words.id, version],
  )

/** For a part of the words. Returns nothing if the text is no longer at the version. */
export const advanceState = <R>(
  tx: Db,
  { tenant_id, id, version, isLast }: LaterWords<unknown>,
  columns: string,
): Promise<R | undefined> =>
  // With the last part the words are all there.
  one<R>(
    tx,
    `update memory_recall set word_rules = ? where tenant_id = ? and memory_id = ? and version = ? returning ${columns}`,
    [isLast ? WORD_RULES : NO_RULES, tenant_id, id, version],
  )
