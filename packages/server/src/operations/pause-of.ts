// Between two steps of a long read, its caller waits for a turn. The read ends when its client has gone.
import type { Pause, StepTurns } from '../kernel/step-turns.ts'
import type { Call } from './call.ts'

export const pauseOf =
  (turns: StepTurns, { principal, options }: Pick<Call<never>, 'principal' | 'options'>): Pause =>
  async () => {
    await turns.take(principal.tenantId, principal.id)
    if (options.isClientGone?.()) throw new Error('the client went away')
  }
