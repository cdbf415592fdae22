import type { NewEvent, Published } from '@sensorium/client'
import { parseToPassOn } from '../../kernel/json.ts'
import { UsageError, type ClientInvocation, type ClientRun, type CommandResult } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../terminal/clean.ts'
import { progress } from '../terminal/progress.ts'
import { givenEvent } from './given-event.ts'
import { readInput } from './read-input.ts'

/** The most events that one request may carry. */
const BATCH = 100

/** Reads one event, a list of events, or one event on each line. */
function eventsOf(text: string): NewEvent[] {
  const parsed = (piece: string, where: string): unknown => {
    try {
      return parseToPassOn(piece)
    } catch (error) {
      throw new UsageError(`${where} is not JSON: ${(error as Error).message}`, 'CloudEvents as JSON')
    }
  }
  const whole = text.trim()
  const lines = whole.split('\n').filter((line) => line.trim() !== '')
  const separate = lines.length > 1 && lines.every((line) => line.trimStart().startsWith('{')) && isJson(lines[0]!)
  const found = separate ? lines.map((line, i) => parsed(line, `line ${i + 1}`)) : [parsed(whole, 'the file')].flat()
  for (const event of found)
    if (typeof (event as NewEvent | null)?.type !== 'string')
      throw new UsageError('Every event is an object with a type', 'CloudEvents as JSON')
  return found as NewEvent[]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function publishAll({ client, signal }: ClientInvocation, events: readonly NewEvent[]): Promise<CommandResult> {
  const shown = progress('events')
  const results: (Published | { error: { code: string; message: string } })[] = []
  try {
    for (let from = 0; from < events.length; from += BATCH) {
      if (events.length > BATCH) shown.show(from, events.length)
      results.push(...(await client.events.publishBatch(events.slice(from, from + BATCH), { signal })))
    }
    if (events.length > BATCH) shown.show(events.length, events.length)
  } finally {
    shown.end()
  }
  const failed = results.flatMap((result, i) => ('error' in result ? [{ i, ...result.error }] : []))
  const accepted = results.filter((result) => 'status' in result && result.status === 'accepted').length
  const lines = [
    `${accepted} accepted, ${results.length - accepted - failed.length} known already, ${failed.length} refused.`,
    ...failed.slice(0, 10).map(({ i, message }) => `  event ${i + 1}: ${cleanLine(message)}`),
    ...(failed.length > 10 ? [`  and ${failed.length - 10} more: --json has them all`] : []),
  ]
  return { json: { results }, text: lines.join('\n'), exitCode: failed.length === 0 ? EXIT.ok : EXIT.failed }
}

export const run: ClientRun = async (call) => {
  const { args, options, client, signal } = call
  const file = options['file']
  if ((file === undefined) === (args[0] === undefined))
    throw new UsageError('Name the type of an event, or a file of events with --file', '<type> or --file <file>')
  if (file !== undefined) return publishAll(call, eventsOf(await readInput(file === '-' ? '-' : `@${file}`)))
  const json = await client.publish(await givenEvent(args[0]!, options), { signal })
  const reached = json.recipients === 1 ? '1 mailbox' : `${json.recipients ?? 0} mailboxes`
  const text =
    json.status === 'duplicate' ? `${json.event_id} was published before.` : `${json.event_id} reached ${reached}.`
  return { json, text: cleanLine(text) }
}
