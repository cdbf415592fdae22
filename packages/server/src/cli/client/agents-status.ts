// `agents activate` and `agents deactivate`.
import type { ClientRun } from '../command.ts'

const runOf =
  (word: 'activate' | 'deactivate'): ClientRun =>
  async ({ args, client, signal }) => {
    const json = await client.agents[word](args[0]!, { signal })
    return { json, text: `${args[0]} is ${json.status}.` }
  }

export const activate = runOf('activate')
export const deactivate = runOf('deactivate')
