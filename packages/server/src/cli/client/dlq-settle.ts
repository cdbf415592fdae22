// `dlq replay` and `dlq discard`. Both settle the dead letters that are named, or all that fit a filter, in steps that
// show the progress.
import type { Client, DeadLetterFilter } from '@sensorium/client'
import { UsageError, type ClientRun, type ParsedInput } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { progress, type Progress } from '../terminal/progress.ts'
import { deadLetterFilter } from './support/dead-letter-filter.ts'

/** The most that the API accepts in one request. */
const STEP = 1_000

type Choice = { delivery_ids: string[] } | { filter: DeadLetterFilter; limit: number }

type Settle = (client: Client, choice: Choice, signal: AbortSignal) => Promise<number>

interface Verb {
  /** The field of the result. */
  word: 'replayed' | 'discarded'
  says: string
  settle: Settle
}

const REPLAY: Verb = {
  word: 'replayed',
  says: 'put back into the mailbox',
  settle: async (client, choice, signal) => (await client.deliveries.replayMany(choice, { signal })).replayed,
}
const DISCARD: Verb = {
  word: 'discarded',
  says: 'deleted',
  settle: async (client, choice, signal) => (await client.deliveries.discardMany(choice, { signal })).discarded,
}

/** Settles nothing. Returns how many dead letters there are. */
const countOnly: Settle = async (client, choice, signal) =>
  (await client.deliveries.replayMany({ ...choice, dry_run: true }, { signal })).matched

function chosen({ args, options, flags }: ParsedInput): { ids: readonly string[] } | { filter: DeadLetterFilter } {
  const filter = deadLetterFilter(options)
  const ways = [args.length > 0, flags.has('all'), Object.keys(filter).length > 0].filter(Boolean).length
  if (ways !== 1)
    throw new UsageError(
      'Name dead letters, or say which by a filter or by --all: only one of the three',
      '<id>, --all or a filter',
    )
  return args.length > 0 ? { ids: args } : { filter }
}

/** Settles the named dead letters. Returns how many of them still existed. */
async function settleNamed(
  settle: Settle,
  client: Client,
  ids: readonly string[],
  shown: Progress,
  signal: AbortSignal,
): Promise<number> {
  let done = 0
  for (let at = 0; at < ids.length; at += STEP) {
    done += await settle(client, { delivery_ids: ids.slice(at, at + STEP) }, signal)
    if (ids.length > STEP) shown.show(Math.min(ids.length, at + STEP), ids.length)
  }
  return done
}

/**
 * Settles the dead letters that fitted at the start, and no more than were counted: a replayed delivery may fail and
 * become a dead letter again. The newest of them was found with the filter, so its time is never after the filter's own
 * `until`.
 */
async function settleFitting(
  settle: Settle,
  client: Client,
  filter: DeadLetterFilter,
  newest: { total: number; until: string },
  shown: Progress,
  signal: AbortSignal,
): Promise<number> {
  let done = 0
  while (done < newest.total) {
    const limit = Math.min(STEP, newest.total - done)
    const step = await settle(client, { filter: { ...filter, until: newest.until }, limit }, signal)
    done += step
    if (newest.total > STEP) shown.show(done, newest.total)
    if (step === 0) break
  }
  return done
}

/** Returns how many dead letters are chosen, and when the newest that fits a filter was given up. */
async function fitting(
  client: Client,
  choice: ReturnType<typeof chosen>,
  signal: AbortSignal,
): Promise<{ matched: number; until: string }> {
  if ('ids' in choice) return { matched: choice.ids.length, until: '' }
  const { dlq_items, total } = await client.deliveries.deadLetters({ ...choice.filter, limit: 1 }, { signal })
  return { matched: total, until: dlq_items[0]?.dead_lettered_at ?? '' }
}

const count = (number: number): string => `${number} dead letter${number === 1 ? '' : 's'}`

const runOf =
  ({ word, says, settle }: Verb): ClientRun =>
  async ({ client, signal, ...given }) => {
    const choice = chosen(given)
    const { matched, until } = await fitting(client, choice, signal)
    const shown = progress('dead letters')
    try {
      const isTrial = given.flags.has('dry-run')
      if (matched === 0 && !isTrial) return { json: { matched, [word]: 0 }, text: 'There are no such dead letters.' }
      if (isTrial) {
        const some = 'ids' in choice ? await settleNamed(countOnly, client, choice.ids, shown, signal) : matched
        return { json: { matched: some, [word]: 0 }, text: `${count(some)} would be ${says}; nothing was done.` }
      }
      const done =
        'ids' in choice
          ? await settleNamed(settle, client, choice.ids, shown, signal)
          : await settleFitting(settle, client, choice.filter, { total: matched, until }, shown, signal)
      const missing = matched - done
      const rest = missing > 0 ? ` ${missing} of ${matched} ${missing === 1 ? 'was' : 'were'} not found.` : ''
      return {
        json: { matched, [word]: done },
        text: `${count(done)} ${done === 1 ? 'was' : 'were'} ${says}.${rest}`,
        exitCode: rest === '' ? EXIT.ok : EXIT.failed,
      }
    } finally {
      shown.end()
    }
  }

export const replay = runOf(REPLAY)
export const discard = runOf(DISCARD)
