import type { DeadLetterFilter } from '@sensorium/client'
import type { ParsedInput } from '../../command.ts'
import { pastTime } from '../../past-time.ts'
import { withoutUndefined } from './read-input.ts'

/** Returns the filter for dead letters that the options of a command describe. The service checks the values. */
export const deadLetterFilter = (options: ParsedInput['options']): DeadLetterFilter =>
  withoutUndefined({
    event_type: options['type'],
    reason: options['reason'],
    agent_id: options['of-agent'],
    since: pastTime('since', options),
    until: pastTime('until', options),
  })
