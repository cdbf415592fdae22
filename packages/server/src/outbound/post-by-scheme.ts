// Where pushes are made: those to http on the main thread, those to https in a thread of their own. A hostile endpoint
// can make the verification of its certificates last for two seconds of one step (handshakes.ts), in which a thread
// does nothing else.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeThread } from '../kernel/thread.ts'
import type { PushResult } from './outcome.ts'
import { INTERRUPTED } from './deadlines.ts'
import { makePublicPost, type Post } from './post.ts'

export interface PostRequest {
  url: string
  headers: Record<string, string>
  body: string
  mailbox: Mailbox
  /** By `process.hrtime`, which all threads share. The time limit of a push includes its wait for a busy thread. */
  askedAt: bigint
}

interface PostBySchemeTools {
  clock: Clock
  log: Logger
  /** Whether addresses outside of the public internet may be pushed to. */
  allowPrivate: boolean
  /** The file of the thread. */
  file?: URL
}

/** A name that is being looked up, or a certificate that is being verified, does not hold up a shutdown. */
const CLOSE_WITHIN_MS = 2_000

const FILE = new URL('./post-thread.ts', import.meta.url)

/**
 * The thread starts with the first push to https. If it dies, the pushes under way fail and the next starts another.
 */
export function makePostByScheme({ clock, log, allowPrivate, file = FILE }: PostBySchemeTools): Post {
  const here = makePublicPost(clock, { allowPrivate })
  const thread = makeThread<PostRequest, PushResult>(file, 'push', { allowPrivate })
  let closing: Promise<void> | undefined
  let reported: unknown

  async function post(...[url, headers, body, mailbox]: Parameters<Post>): Promise<PushResult> {
    if (URL.parse(url)?.protocol !== 'https:') return here(url, headers, body, mailbox)
    try {
      return await thread.ask({ url, headers, body, mailbox, askedAt: process.hrtime.bigint() })
    } catch (error) {
      if (closing) return { error: INTERRUPTED }
      // All pushes under way fail with the same error.
      if (error !== reported) log.error({ err: (reported = error) }, 'the push thread ended')
      return { error: 'connection failed: the push thread ended' }
    }
  }

  function close(): Promise<void> {
    void here.close()
    closing ??= Promise.race([thread.close(), sleep(CLOSE_WITHIN_MS, undefined, { ref: false })])
    return closing
  }
  return Object.assign(post, { close })
}
