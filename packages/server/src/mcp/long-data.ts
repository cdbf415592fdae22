// Reads an event without the value of its data if that is long: a list shows the beginning of its text, and the value
// of a megabyte of `{}` takes 20 MB.
import { splitMembers } from '../kernel/json-members.ts'
import { AROUND, passOnInSteps } from '../kernel/json-steps.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import { inSteps, type Pause } from '../kernel/step-turns.ts'

/** Stands for the data of an event, in place of its value. */
export class LongData {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const DATA = ['data', 'data_base64']
/** In a delivery the event is its `payload`. */
const LONG_MEMBERS = [...DATA, 'payload']

/** Returns the value of an item of a list of events. */
export async function readListedEvent(text: string, pause: Pause): Promise<unknown> {
  if (text.length <= SHORT_LENGTH || !text.startsWith('{')) return passOnInSteps(text, pause)
  const { taken, rest } = await inSteps(splitMembers(text, LONG_MEMBERS, AROUND), pause)
  const event = (await passOnInSteps(rest, pause)) as Record<string, unknown>
  for (const [name, bytes] of taken) {
    const part = bytes.toString()
    const isLong = part.length > SHORT_LENGTH && DATA.includes(name)
    event[name] = isLong ? new LongData(part) : await readListedEvent(part, pause)
  }
  return event
}
