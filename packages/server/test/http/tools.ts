// Requests that the HTTP tests share: agents of any size, and one that does not exist.
import { AGENT } from '../support/service.ts'

export const MIB = 1_048_576
export const NO_AGENT = 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d'

/** A body that is a valid agent and exactly `bytes` bytes long. */
export const agentOf = (bytes: number): string => {
  const json = JSON.stringify(AGENT)
  return json.slice(0, -1) + ' '.repeat(bytes - json.length) + '}'
}
