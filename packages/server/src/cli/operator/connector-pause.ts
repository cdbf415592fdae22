// `connector pause` and `connector resume`.
import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

const runOf =
  (operation: typeof operations.pauseConnector | typeof operations.resumeConnector): OperatorRun =>
  async ({ args, call }) => {
    const json = await call(operation, { params: { id: args[0]! } })
    return { json, text: `Connector ${json.connector.id}: ${json.connector.state}` }
  }

export const pause = runOf(operations.pauseConnector)
export const resume = runOf(operations.resumeConnector)
