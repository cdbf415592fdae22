// One AMQP 1.0 connector: receives, publishes, settles, and comes back when the connection is lost.
//
// 1. Never more unsettled than `credit`: room for the next message is made by settling one, not by receiving it.
// 2. Accepted after its event is on disk. Released when the store cannot take it, and then asked for again more slowly,
//    one at first: a broker gives back at once what is released, and the two would spin.
// 3. Rejected when it can never become an event; the connector goes on.
// 4. Whatever ends the connection, an unsettled message is the broker's and comes again; the event id makes it a
//    duplicate.
// 5. Certificates are always verified. The password is in no error: what brokers and TLS say about a connection names
//    none.
import { isIP } from 'node:net'
import type { ConnectorState } from '@sensorium/contract'
import rhea, { type Connection, type ConnectionOptions, type Delivery, type EventContext, type Receiver } from 'rhea'
import type { Publish } from '../events/publish.ts'
import { backoffMs } from '../kernel/backoff.ts'
import type { Clock } from '../kernel/clock.ts'
import { Failure } from '../kernel/failure.ts'
import { StoreUnavailable } from '../store/db.ts'
import type { Mapper } from './mapping.ts'
import { readMessage, Unreadable } from './message.ts'
import type { Counts } from './sql.ts'

export interface AmqpSettings {
  tenantId: string
  id: string
  /** With user and password. */
  url: string
  address: string
  credit: number
  tlsCa: string | null
  mapper: Mapper
}

export interface AmqpTools {
  publish: Publish
  clock: Clock
  maxEventBytes: number
  count(outcome: keyof Counts): void
}

export interface RunningConnector {
  state(): ConnectorState
  lastError(): string | null
  lastMessageAt(): number | null
  /** What was counted since it was last asked. */
  takeCounts(): Counts
  /** Stops receiving at once, finishes what is on its way to the store, and closes. */
  stop(): Promise<void>
}

const RECONNECT = { firstMs: 500, maxMs: 30_000 }
const STORE_AWAY = { firstMs: 500, maxMs: 15_000 }
/** A peer that says nothing for this long is gone; both sides send something more often. */
const IDLE_MS = 15_000
const OPEN_WITHIN_MS = 15_000
const CLOSE_WITHIN_MS = 2_000
/** How long what is on its way to the store may take when the connector is told to stop. */
const DRAIN_MS = 5_000

/** Turned away, not out of reach: the same again will not help unless somebody changes something. */
const REFUSED_CONDITIONS =
  /^amqp:(unauthorized-access|not-found|not-allowed|not-implemented|invalid-field|precondition-failed)$/
const REFUSED_CERTIFICATES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/

const none = (): Counts => ({ received: 0, accepted: 0, duplicates: 0, released: 0, rejected: 0 })

function connectionOptions({ id, url, tlsCa }: AmqpSettings): ConnectionOptions {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const vhost = decodeURIComponent(pathname.slice(1))
  const common = {
    host,
    port: Number(port) || (protocol === 'amqps:' ? 5671 : 5672),
    // Without a user the broker is asked for its anonymous door.
    username: decodeURIComponent(username) || 'anonymous',
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    container_id: `sensorium-${id}`,
    hostname: vhost === '' ? host : `vhost:${vhost}`,
    idle_time_out: IDLE_MS,
    // Reconnecting is ours: its waits are the clock's, and its state is shown.
    reconnect: false as const,
  }
  if (protocol !== 'amqps:') return { ...common, transport: 'tcp' }
  // An address has no server name to ask for; the certificate is then checked for the address itself.
  const tls = { servername: isIP(host) ? '' : host, rejectUnauthorized: true, ...(tlsCa === null ? {} : { ca: tlsCa }) }
  return { ...common, ...tls, transport: 'tls' } as ConnectionOptions
}

const describe = (error: unknown): { text: string; refused: boolean } => {
  const { condition, code, description, message } = (error ?? {}) as {
    condition?: string
    code?: string
    description?: string
    message?: string
  }
  const name = condition ?? code ?? ''
  const text = description || message || name || 'the connection was closed'
  return {
    text: (name !== '' && !text.includes(name) ? `${name}: ${text}` : text).slice(0, 500),
    refused: REFUSED_CONDITIONS.test(name) || REFUSED_CERTIFICATES.test(name),
  }
}

export function startConnector(
  settings: AmqpSettings,
  { publish, clock, maxEventBytes, count }: AmqpTools,
): RunningConnector {
  const { tenantId, id, address, credit, mapper } = settings
  const stopping = new AbortController()
  let state: ConnectorState = 'starting'
  let lastError: string | null = null
  let lastMessageAt: number | null = null
  let counts = none()
  let failures = 0
  let storeFailures = 0

  const add = (outcome: keyof Counts): void => {
    counts[outcome]++
    count(outcome)
  }

  /** One connection from its opening to its end; answers why it ended. */
  function connectOnce(): Promise<unknown> {
    return new Promise((resolve) => {
      const container = rhea.create_container({ id: `sensorium-${id}` })
      let receiver: Receiver | null = null
      let over = false
      let granted = 0
      let unsettled = 0
      let pausedUntilStoreReturns = false
      let scheduled = false
      let idle = (): void => {}
      const ended = new AbortController()

      function end(error?: unknown): void {
        if (over) return
        over = true
        ended.abort()
        clearTimeout(tooLong)
        resolve(error)
      }

      // Settling happens in bursts, when a group is on disk: one flow for all of it. And none while messages may be on
      // their way: RabbitMQ 3 takes the number as credit from then on, forgets those, and sends more than was granted.
      function grant(): void {
        if (scheduled || over || granted > 0) return
        scheduled = true
        setImmediate(() => {
          scheduled = false
          if (over || stopping.signal.aborted || pausedUntilStoreReturns || !receiver || granted > 0) return
          const wanted = storeFailures > 0 ? 1 : credit
          const room = wanted - unsettled
          if (room < Math.ceil(wanted / 4)) return
          granted = room
          receiver.add_credit(room)
        })
      }

      async function whenStoreReturns(): Promise<void> {
        if (pausedUntilStoreReturns) return
        pausedUntilStoreReturns = true
        await clock.sleep(backoffMs(STORE_AWAY, ++storeFailures), AbortSignal.any([stopping.signal, ended.signal]))
        pausedUntilStoreReturns = false
        grant()
      }

      function settle(outcome: 'accepted' | 'released' | 'rejected', act: () => void): void {
        unsettled--
        // On a connection that is gone there is nothing to settle: the broker has taken the message back.
        if (!over) {
          act()
          add(outcome)
        }
        if (unsettled === 0) idle()
        grant()
      }

      const release = (delivery: Delivery): void => settle('released', () => delivery.release())

      async function take(message: NonNullable<EventContext['message']>, delivery: Delivery): Promise<void> {
        try {
          const event = readMessage(message, mapper, maxEventBytes, clock.now())
          const [outcome] = await publish({ tenantId, senderId: id, events: [event] })
          if (outcome!.status === 'refused') throw outcome!.failure
          storeFailures = 0
          if (outcome!.status === 'duplicate' && !over) add('duplicates')
          settle('accepted', () => delivery.accept())
        } catch (error) {
          if (error instanceof Unreadable || (error instanceof Failure && error.status < 500)) {
            lastError = `a message was rejected: ${error.message}`.slice(0, 500)
            settle('rejected', () =>
              delivery.reject({ condition: 'amqp:decode-error', description: error.message.slice(0, 200) }),
            )
            return
          }
          const known = error instanceof StoreUnavailable || error instanceof Failure
          lastError = known ? `the store could not take a message: ${error.message}` : 'a message could not be stored'
          void whenStoreReturns()
          release(delivery)
        }
      }

      container.on('message', ({ message, delivery }: EventContext) => {
        if (granted > 0) granted--
        unsettled++
        // Came before the broker heard that there is no more credit.
        if (stopping.signal.aborted) return release(delivery!)
        add('received')
        lastMessageAt = clock.now()
        void take(message!, delivery!)
      })
      container.on('receiver_open', () => {
        clearTimeout(tooLong)
        state = 'running'
        failures = 0
        lastError = null
        grant()
      })
      const closedBy = (what: string) => new Error(`the broker closed the ${what}`)
      container.on('receiver_close', (context: EventContext) => finish(context.receiver?.error ?? closedBy('link')))
      container.on('session_close', (context: EventContext) => finish(context.session?.error ?? closedBy('session')))
      container.on('connection_close', (context: EventContext) =>
        finish(context.error ?? context.connection.error ?? closedBy('connection')),
      )
      container.on('disconnected', ({ error }: EventContext) => end(error ?? new Error('the connection was lost')))
      // Each is told by one of the above as well; unheard, an `error` would end the process.
      for (const name of ['receiver_error', 'session_error', 'connection_error'] as const) container.on(name, () => {})
      for (const name of ['error', 'protocol_error']) container.on(name, (error: unknown) => finish(error))

      let connection: Connection
      const finish = (error: unknown): void => {
        end(error)
        connection?.close()
        // A broker that does not answer our farewell keeps no socket of ours.
        const socket = (connection as unknown as { socket?: { destroy(): void } } | undefined)?.socket
        setTimeout(() => socket?.destroy(), CLOSE_WITHIN_MS).unref()
      }
      const tooLong = setTimeout(
        () => finish(new Error(`the broker did not open the link within ${OPEN_WITHIN_MS / 1000} s`)),
        OPEN_WITHIN_MS,
      )

      async function leave(): Promise<void> {
        if (unsettled > 0)
          await Promise.race([new Promise<void>((done) => (idle = done)), clock.sleep(DRAIN_MS, ended.signal)])
        // What was just settled goes out before the farewell.
        await new Promise(setImmediate)
        finish(undefined)
      }
      stopping.signal.addEventListener('abort', () => void leave(), { once: true })

      try {
        connection = container.connect(connectionOptions(settings))
        receiver = connection.open_receiver({
          source: { address },
          credit_window: 0,
          autoaccept: false,
          snd_settle_mode: 0,
          rcv_settle_mode: 0,
        })
      } catch (error) {
        finish(error)
      }
    })
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const { text, refused } = describe(await connectOnce())
      if (stopping.signal.aborted) break
      lastError = text
      state = refused ? 'failed' : 'reconnecting'
      await clock.sleep(backoffMs(RECONNECT, ++failures), stopping.signal)
    }
    state = 'paused'
  })()

  return {
    state: () => state,
    lastError: () => lastError,
    lastMessageAt: () => lastMessageAt,
    takeCounts() {
      const taken = counts
      counts = none()
      return taken
    },
    stop() {
      stopping.abort()
      return running
    },
  }
}
