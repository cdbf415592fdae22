// One connection to an AMQP 1.0 broker, from its opening to its end.
//
// 1. A message is accepted after its event is on disk. It is released when the store cannot take it, and messages are
//    then requested more slowly, one at first: a broker redelivers a released message at once, and the two would spin.
// 2. A message is rejected when it can never become an event; the connector goes on.
// 3. A message that its sender takes back while it is sent is discarded, and not counted.
// 4. A message is decoded after its bytes were checked, and no more of it is held in memory than an event may have:
//    a sender to the queue can neither use up our memory nor end the connection for the others. `amqp-guard.ts` holds
//    the broker itself to such bounds.
// 5. However the connection ends, an unsettled message still belongs to the broker and is redelivered; its event id
//    makes it a duplicate.
import type { Socket } from 'node:net'
import rhea, { type Connection, type Delivery, type EventContext, type Receiver } from 'rhea'
import { connectionOptions } from './amqp-address.ts'
import { makeCredit, type Credit } from './amqp-credit.ts'
import { guardConnection, guardSession } from './amqp-guard.ts'
import { readMessage } from './amqp-message.ts'
import { makeOutcomes } from './amqp-outcomes.ts'
import type { PreparedEvent } from '../../events/envelope.ts'
import { tooLarge } from '../../kernel/failure.ts'
import { nextTurn } from '../../kernel/step-turns.ts'
import type { ConnectorSettings, ConnectorTools } from './connector.ts'
import type { ConnectorProgress } from './progress.ts'
import { publishMessage } from './publish-message.ts'

const OPEN_WITHIN_MS = 15_000
const CLOSE_WITHIN_MS = 2_000
/** How long messages on their way to the store may take when the connector is told to stop. */
const DRAIN_MS = 5_000

interface LinkTools extends ConnectorTools {
  progress: ConnectorProgress
  stopping: AbortSignal
  /** How often in a row the store was unavailable. */
  store: { failures: number }
  /** Called when the link is open. */
  opened(): void
}

/** Connects and receives. Resolves with the reason when the connection has ended. */
export async function runLink(settings: ConnectorSettings, tools: LinkTools): Promise<unknown> {
  const { clock, stopping, store, progress, opened } = tools
  const ended = new AbortController()
  const over = AbortSignal.any([stopping, ended.signal])
  let receiver: Receiver | null = null
  const credit = makeCredit({ credit: settings.credit, clock, ended: over, receiver: () => receiver, store })
  const handleMessage = makeMessageHandler(settings, tools, credit, ended.signal)
  const container = rhea.create_container({ id: `sensorium-${settings.id}` })
  const { promise, resolve } = Promise.withResolvers<unknown>()
  let connection: Connection | undefined

  const markEnded = (error?: unknown): void => {
    if (ended.signal.aborted) return
    ended.abort()
    clearTimeout(tooLong)
    resolve(error)
  }
  const destroySocket = (error?: Error): void => {
    const { socket } = (connection ?? {}) as { socket?: Socket }
    socket?.destroy(error)
  }
  const closeConnection = (error: unknown): void => {
    markEnded(error)
    connection?.close()
    // A broker that does not answer the close does not keep the socket open.
    setTimeout(destroySocket, CLOSE_WITHIN_MS).unref()
  }
  const tooLong = setTimeout(
    () => closeConnection(new Error(`the broker did not open the link within ${OPEN_WITHIN_MS / 1000} s`)),
    OPEN_WITHIN_MS,
  )

  container.on('receiver_open', () => {
    clearTimeout(tooLong)
    progress.state = 'running'
    progress.noteError(null)
    opened()
    credit.grant()
  })
  const closedBy = (what: string) => new Error(`the broker closed the ${what}`)
  container.on('receiver_close', (context: EventContext) =>
    closeConnection(context.receiver?.error ?? closedBy('link')),
  )
  container.on('session_close', (context: EventContext) =>
    closeConnection(context.session?.error ?? closedBy('session')),
  )
  container.on('connection_close', (context: EventContext) =>
    closeConnection(context.error ?? context.connection.error ?? closedBy('connection')),
  )
  container.on('disconnected', ({ error }: EventContext) => markEnded(error ?? new Error('the connection was lost')))
  // The close events above report these errors too; without a listener, an `error` event would end the process.
  for (const name of ['receiver_error', 'session_error', 'connection_error'] as const) container.on(name, () => {})
  // Nothing more is read from a broker that breaks the protocol. rhea reports the error as `disconnected`.
  for (const name of ['error', 'protocol_error']) container.on(name, destroySocket)

  async function drainAndClose(): Promise<void> {
    if (credit.unsettled() > 0) await Promise.race([credit.idle(), clock.sleep(DRAIN_MS, ended.signal)])
    // Outcomes that were settled a moment ago are sent before the close.
    await nextTurn()
    closeConnection(undefined)
  }
  // The connector outlives its links: a listener that stayed would keep each of them in memory.
  stopping.addEventListener('abort', () => void drainAndClose(), { once: true, signal: ended.signal })

  try {
    connection = container.create_connection(connectionOptions(settings))
    guardConnection(connection)
    connection.connect()
    const session = connection.create_session()
    session.begin()
    receiver = session.open_receiver({
      source: { address: settings.address },
      credit_window: 0,
      autoaccept: false,
      snd_settle_mode: 0,
      rcv_settle_mode: 0,
    })
    const transfers = guardSession(connection, session, tools.maxEventBytes, credit.arrived)
    container.on('message', ({ message, delivery }: EventContext) => {
      if (transfers.isAborted()) return discard(delivery!, credit)
      handleMessage(message as unknown as Buffer, transfers.isWhole() ? null : transfers.size(), delivery!)
    })
  } catch (error) {
    closeConnection(error)
  }
  return promise
}

/** Forgets a message that its sender took back. The broker has settled it, so it is told no outcome. */
function discard(delivery: Delivery, credit: Credit): void {
  Object.assign(delivery, { remote_settled: true }).update(true)
  credit.settled()
}

/**
 * Returns the handler for each message of one connection. `refusedSize` is the size of a message that was too large to
 * be kept, else null.
 */
function makeMessageHandler(
  { tenantId, id, source, mapper }: ConnectorSettings,
  { publish, clock, maxEventBytes, progress, stopping }: LinkTools,
  credit: Credit,
  ended: AbortSignal,
): (bytes: Buffer, refusedSize: number | null, delivery: Delivery) => void {
  const target = { publish, tenantId, connectorId: id, source }
  const report = makeOutcomes()

  // A long message is read in steps. Those behind it wait, so that events are published in the order of the queue.
  let last: Promise<unknown> = Promise.resolve()
  function inOrder(read: () => Promise<PreparedEvent>): Promise<PreparedEvent> {
    const event = last.then(read)
    last = event.catch(() => {})
    return event
  }

  function settle(outcome: 'accepted' | 'released' | 'rejected', act: () => void, reason = ''): void {
    report(outcome + reason, () => {
      // On a closed connection there is nothing to settle: the broker has taken the message back.
      if (!ended.aborted) {
        act()
        progress.add(outcome)
      }
      credit.settled()
    })
  }

  /** After the end of the connection, the reason for that is what the operator has to see. */
  const noteError = (text: string): void => void (ended.aborted || progress.noteError(text))

  async function publishAndSettle(bytes: Buffer, refusedSize: number | null, delivery: Delivery): Promise<void> {
    const outcome = await publishMessage(target, () =>
      inOrder(async () => {
        if (refusedSize !== null) throw tooLarge(refusedSize, maxEventBytes)
        return readMessage(bytes, mapper, maxEventBytes, clock.now())
      }),
    )
    if (outcome.kind === 'stored') {
      credit.storeWorks()
      if (outcome.duplicate && !ended.aborted) progress.add('duplicates')
      settle('accepted', () => delivery.accept())
    } else if (outcome.kind === 'invalid') {
      noteError(`a message was rejected: ${outcome.why}`)
      const description = outcome.why.slice(0, 200)
      settle('rejected', () => delivery.reject({ condition: 'amqp:decode-error', description }), description)
    } else {
      noteError(outcome.why)
      void credit.storeUnavailable()
      settle('released', () => delivery.release())
    }
  }

  return (bytes, refusedSize, delivery) => {
    // The message was sent before the broker knew that the connector is stopping.
    if (stopping.aborted) return settle('released', () => delivery.release())
    progress.add('received')
    progress.lastMessageAt = clock.now()
    void publishAndSettle(bytes, refusedSize, delivery)
  }
}
