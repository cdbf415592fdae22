import type { AgentUpdate } from '@sensorium/client'

/** The endpoint as a form shows it. */
export interface EndpointTexts {
  address: string
  /** Seconds, separated by commas. */
  waits: string
}

const secondsOf = (waits: string): number[] =>
  waits
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(Number)

/** Returns only what the user changed: somebody else may have changed the rest meanwhile. */
export function changeOf(old: EndpointTexts, { address, waits }: EndpointTexts): AgentUpdate {
  const seconds = secondsOf(waits)
  return {
    ...(address === old.address ? {} : { delivery_endpoint: address === '' ? null : address }),
    ...(waits === old.waits ? {} : { retry_schedule_seconds: seconds.length === 0 ? null : seconds }),
  }
}
