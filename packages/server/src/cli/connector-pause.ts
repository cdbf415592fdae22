// Two commands that differ in one word.
import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'

const command = (word: 'pause' | 'resume', summary: string): Command => ({
  words: ['connector', word],
  parameters: ['id'],
  summary,
  async run({ args, call }) {
    const operation = word === 'pause' ? operations.pauseConnector : operations.resumeConnector
    const json = await call(operation, { params: { id: args[0]! } })
    return { json, text: `Connector ${json.connector.id}: ${json.connector.state}` }
  },
})

export const connectorPause = command('pause', 'Stop a connector from receiving, until resumed; nothing is lost')
export const connectorResume = command('resume', 'Let a paused connector receive again')
