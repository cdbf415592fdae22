// `agents pause` and `agents resume`.
import type { ClientRun } from '../command.ts'

const runOf =
  (word: 'pause' | 'resume'): ClientRun =>
  async ({ args, client, signal }) => {
    const json = await client.agents[word](args[0]!, { signal })
    const text = json.paused
      ? `${args[0]} is paused: events still arrive, and wait until it is resumed.`
      : `${args[0]} receives again.`
    return { json, text }
  }

export const pause = runOf('pause')
export const resume = runOf('resume')
