// What commands that follow a stream until they are ended have in common.
import type { ClientInvocation } from '../../command.ts'
import { UsageError } from '../../command.ts'
import { numberOf } from './read-input.ts'

/** Returns how many are to be shown: without `--count`, all. */
export function countOf(options: ClientInvocation['options']): number {
  const count = numberOf('--count', options['count']) ?? Number.POSITIVE_INFINITY
  if (!(count >= 1)) throw new UsageError('--count takes a number from 1 on', 'a number from 1 on')
  return count
}

/**
 * Returns whether a stream can be begun; false if the command was ended meanwhile. A stream is reopened for ever, which
 * is right for one that has broken off, and wrong for an address where nobody is. The exchange of the key fails after a
 * few attempts, and then the command does.
 */
export async function hasService({ client, signal }: ClientInvocation): Promise<boolean> {
  try {
    await client.agent({ signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
