// What the state of a push endpoint is called. The circuit breaker stays closed for the first failures, so `closed`
// alone does not mean that the endpoint answers.
import type { PushState } from '@sensorium/client'

interface Shown {
  tone: 'good' | 'warn' | 'bad' | undefined
  says: string
}

export function endpointState({ state, consecutive_failures, last_success_at }: PushState): Shown {
  if (state === 'open') return { tone: 'bad', says: 'left alone for a while' }
  if (state === 'half_open') return { tone: 'warn', says: 'being tried again' }
  if (consecutive_failures > 0) return { tone: 'warn', says: 'failing' }
  // A node knows only of its own pushes, so this is not "never pushed to".
  if (last_success_at === null) return { tone: undefined, says: 'not known yet' }
  return { tone: 'good', says: 'answering' }
}
