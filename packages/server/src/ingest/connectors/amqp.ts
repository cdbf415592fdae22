// The AMQP 1.0 connector: connects, and reconnects when the connection is lost. `amqp-link.ts` is what happens on one
// connection.
//
// Certificates are always verified. No error contains the password: the errors of brokers and of TLS never name it.
import { backoffMs } from '../../kernel/backoff.ts'
import { describeEnd } from './amqp-address.ts'
import type { Connector, ConnectorSettings, ConnectorTools, RunningConnector } from './connector.ts'
import { makeConnectorProgress } from './progress.ts'

const RECONNECT = { firstMs: 500, maxMs: 30_000 }

export const amqp: Connector = {
  kind: 'amqp',
  protocols: ['amqp:', 'amqps:'],
  encrypted: ['amqps:'],
  start,
}

function start(settings: ConnectorSettings, tools: ConnectorTools): RunningConnector {
  const { clock, count } = tools
  const stopping = new AbortController()
  const progress = makeConnectorProgress(count)
  const store = { failures: 0 }
  let failures = 0
  let openedAt = Infinity
  const opened = (): void => void (openedAt = clock.now())
  const linkTools = { ...tools, progress, store, stopping: stopping.signal, opened }

  // Loaded by the first connector: the protocol's library takes 42 ms of a start.
  const runLink = async (): Promise<unknown> => (await import('./amqp-link.ts')).runLink(settings, linkTools)

  const running = (async () => {
    while (!stopping.signal.aborted) {
      // Nobody waits for this loop, so an error that left it would end the process.
      const { text, refused } = describeEnd(await runLink().catch((error: unknown) => error))
      if (stopping.signal.aborted) break
      progress.noteError(text)
      progress.state = refused ? 'failed' : 'reconnecting'
      // A link that ends soon after it opened is a failure too: its broker would otherwise be tried twice a second.
      if (clock.now() - openedAt >= RECONNECT.maxMs) failures = 0
      openedAt = Infinity
      await clock.sleep(backoffMs(RECONNECT, ++failures), stopping.signal)
    }
    progress.state = 'paused'
  })()

  return {
    state: () => progress.state,
    lastError: () => progress.lastError,
    lastMessageAt: () => progress.lastMessageAt,
    takeCounts: progress.takeCounts,
    returnCounts: progress.returnCounts,
    stop() {
      stopping.abort()
      return running
    },
  }
}
