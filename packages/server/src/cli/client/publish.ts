import { randomUUID } from 'node:crypto'
import { parseExactly, type NewEvent, type Published } from '@sensorium/client'
import { UsageError, type ClientInvocation, type ClientRun, type CommandResult } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../terminal/clean.ts'
import { progress } from '../terminal/progress.ts'
import { givenEvent } from './support/given-event.ts'
import { readInput } from './support/read-input.ts'

/** The most events that one request may carry. */
const BATCH = 100
/**
 * The most bytes of events in a request with several. The service accepts ten times its limit for one event, which is
 * 1 MiB unless it is set. This also fits where it is set to a tenth of that, and larger requests are hardly faster.
 */
const BATCH_BYTES = 1_000_000

/** An event with its id, which the file may have left out. */
type SentEvent = NewEvent & { id: string }
type Result = Published | { error: { code: string; message: string } }

/** Reads one event, a list of events, or one event on each line. */
function eventsOf(text: string): NewEvent[] {
  const refused = (where: string, why: string) => new UsageError(`${where} is not JSON: ${why}`, 'CloudEvents as JSON')
  const lines = text.split('\n').map(withPlainSpace)
  const first = lines.find((line) => line.trim() !== '')
  if (first === undefined) throw new UsageError('The file holds no events', 'CloudEvents as JSON')
  // What follows a line that is JSON by itself cannot belong to the same document.
  const separate = isJson(first) && lines.filter((line) => line.trim() !== '').length > 1
  const found = separate
    ? lines.flatMap((line, i) =>
        // The parser sees one line, and would call it the first.
        line.trim() === '' ? [] : [parsed(line, (why) => refused(`line ${i + 1}`, why.replace('(line 1 ', '(')))],
      )
    : [parsed(withPlainSpace(text), (why) => refused('the file', why))].flat()
  // Counted as in the summary of what the service refused.
  for (const [i, event] of found.entries())
    if (typeof (event as NewEvent | null)?.type !== 'string')
      throw new UsageError(`event ${i + 1} is not an object with a type`, 'CloudEvents as JSON')
  return found as NewEvent[]
}

/** Replaces the space around a text by that which JSON allows, and a byte order mark too. Places stay the same. */
const withPlainSpace = (text: string): string =>
  text.trimEnd().replace(/^\s+/, (space) => space.replace('\uFEFF', '').replace(/[^\n]/g, ' '))

function parsed(text: string, refused: (why: string) => Error): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    throw refused((error as Error).message)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Cuts the events into requests that the service accepts, in order. */
function* batchesOf(events: readonly SentEvent[]): Generator<SentEvent[]> {
  let batch: SentEvent[] = []
  let bytes = 0
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event))
    if (batch.length === BATCH || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(event)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

function summaryOf(results: readonly Result[]): { text: string; exitCode: number } {
  const failed = results.flatMap((result, i) => ('error' in result ? [{ i, ...result.error }] : []))
  const accepted = results.filter((result) => 'status' in result && result.status === 'accepted').length
  const lines = [
    `${accepted} accepted, ${results.length - accepted - failed.length} known already, ${failed.length} refused.`,
    ...failed.slice(0, 10).map(({ i, message }) => `  event ${i + 1}: ${cleanLine(message)}`),
    ...(failed.length > 10 ? [`  and ${failed.length - 10} more: --json has them all`] : []),
  ]
  return { text: lines.join('\n'), exitCode: failed.length === 0 ? EXIT.ok : EXIT.failed }
}

/** The result when a request failed: what came before it is published, and its own events may be. */
function brokenOff(
  results: readonly Result[],
  failing: readonly SentEvent[],
  total: number,
  error: unknown,
): CommandResult {
  const from = results.length + 1
  const to = results.length + failing.length
  const rest = to < total ? ` Events ${to + 1} to ${total} were not sent.` : ''
  return {
    json: { results, unanswered: failing.map(({ id }) => id) },
    text:
      results.length === 0 ? '' : `${summaryOf(results).text}\nThe request with events ${from} to ${to} failed.${rest}`,
    failedWith: error,
  }
}

async function publishAll({ client, signal }: ClientInvocation, given: readonly NewEvent[]): Promise<CommandResult> {
  // The ids are made here, so that they can be named if a response never arrives.
  const events = given.map((event) => ({ ...event, id: event.id ?? randomUUID() }))
  const shown = progress('events')
  const results: Result[] = []
  try {
    for (const batch of batchesOf(events)) {
      if (batch.length < events.length) shown.show(results.length, events.length)
      try {
        results.push(...(await client.events.publishBatch(batch, { signal })))
      } catch (error) {
        return brokenOff(results, batch, events.length, error)
      }
      if (batch.length < events.length) shown.show(results.length, events.length)
    }
  } finally {
    shown.end()
  }
  return { json: { results }, ...summaryOf(results) }
}

export const run: ClientRun = async (call) => {
  const { args, options, client, signal } = call
  const file = options['file']
  if ((file === undefined) === (args[0] === undefined))
    throw new UsageError(
      `Name the type of an event, or a file of events with --file${file === undefined ? '' : ', not both'}`,
      '<type> or --file <file>',
    )
  if (file !== undefined) return publishAll(call, eventsOf(await readInput(file === '-' ? '-' : `@${file}`)))
  const json = await client.publish(await givenEvent(args[0]!, options), { signal })
  const reached = json.recipients === 1 ? '1 mailbox' : `${json.recipients ?? 0} mailboxes`
  const text =
    json.status === 'duplicate' ? `${json.event_id} was published before.` : `${json.event_id} reached ${reached}.`
  return { json, text: cleanLine(text) }
}
