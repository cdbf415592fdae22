// Two commands that differ in one word.
import { pauseConnector } from '../ingest/connectors/pause.ts'
import type { Command } from './command.ts'

const command = (word: 'pause' | 'resume', summary: string): Command => ({
  words: ['connector', word],
  parameters: ['id'],
  summary,
  async run({ args, clock, withStore }) {
    const json = await withStore((store) =>
      store.tx((tx) => pauseConnector(tx, clock.now(), args[0]!, word === 'pause')),
    )
    return { json, text: `Connector ${json.connector.id}: ${json.connector.state}` }
  },
})

export const connectorPause = command('pause', 'Stop a connector from receiving, until resumed; nothing is lost')
export const connectorResume = command('resume', 'Let a paused connector receive again')
