// A broker that does not keep to the protocol, over a real socket.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import rhea, { type Connection, type EventContext } from 'rhea'
import type { Publish } from '../../../src/events/publish.ts'
import { amqp } from '../../../src/ingest/connectors/amqp.ts'
import { guardConnection } from '../../../src/ingest/connectors/amqp-guard.ts'
import type { RunningConnector } from '../../../src/ingest/connectors/connector.ts'
import { compileMapping, DEFAULT_MAPPING } from '../../../src/ingest/mapping.ts'
import {
  ARRAY,
  ATTACH,
  BEGIN,
  binary,
  composite,
  compound,
  described,
  DETACH,
  DISPOSITION,
  FALSE,
  FLOW,
  frame,
  NULL,
  string,
  symbol,
  TRANSFER,
  TRUE,
  uint,
} from '../../support/amqp-bytes.ts'
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { startHostileBroker, type Attack, type HostileBroker } from '../../support/hostile-broker.ts'
import { turnsUntil } from '../../support/turns-until.ts'

interface Attacked {
  broker: HostileBroker
  connector: RunningConnector
  clock: FakeClock
}

const storeNothing: Publish = () => assert.fail('nothing can be stored')

async function start(
  t: TestContext,
  how: Attack,
  maxEventBytes = 10_000,
  publish: Publish = storeNothing,
): Promise<Attacked> {
  const broker = await startHostileBroker(how)
  const clock = fakeClock()
  const connector = amqp.start(
    {
      tenantId: 'ten_1',
      id: 'con_1',
      source: 'erp',
      url: broker.url,
      address: 'q',
      credit: 3,
      tlsCa: null,
      mapper: compileMapping('erp', DEFAULT_MAPPING),
    },
    { publish, clock, maxEventBytes, count: () => {} },
  )
  t.after(async () => {
    await connector.stop()
    await broker.close()
  })
  return { broker, connector, clock }
}

const detach = (...error: Buffer[]): Buffer => frame(composite(DETACH, uint(0), TRUE, composite(0x1d, ...error)))

for (const [what, error, said] of [
  ['a description that is no text', [symbol('amqp:x'), uint(5)], 'amqp:x'],
  ['a condition that is no text', [uint(5), string('gone')], 'gone'],
  ['nothing that is text', [FALSE, NULL], 'the connection was closed'],
  ['NUL characters', [symbol('amqp:\0x'), string('\0a\0')], 'amqp:x: a'],
] as [string, Buffer[], string][])
  test(`[AMQP-10] an error with ${what} becomes the state of the connector`, { timeout: 60_000 }, async (t) => {
    const { connector } = await start(t, { asked: (socket) => socket.write(detach(...error)) })
    await turnsUntil(() => connector.state() === 'reconnecting')
    assert.equal(connector.lastError(), said)
  })

test('[AMQP-6] the waits grow while links end soon after they opened, and begin anew after one that lasted', {
  timeout: 60_000,
}, async (t) => {
  const open: Socket[] = []
  const { broker, connector, clock } = await start(t, { asked: (socket) => void open.push(socket) })
  const end = async (): Promise<void> => {
    await turnsUntil(() => open.length > 0 && connector.state() === 'running')
    open.pop()!.destroy()
    await turnsUntil(() => connector.state() === 'reconnecting')
  }
  for (const longest of [500, 1_000, 2_000, 4_000]) {
    await end()
    const before = broker.connections()
    await clock.advance(longest / 2 - 1)
    assert.equal(broker.connections(), before)
    await clock.advance(longest / 2 + 1)
    await turnsUntil(() => broker.connections() === before + 1)
  }
  await turnsUntil(() => connector.state() === 'running')
  await clock.advance(30_000)
  await end()
  await clock.advance(500)
  await turnsUntil(() => broker.connections() === 6)
})

const begin = composite(BEGIN, NULL, uint(0), uint(2_048), uint(2_048))
const attach = composite(ATTACH, string('another'), uint(1), FALSE, NULL, NULL, NULL)
const transferNamed = (id: Buffer, more: Buffer = FALSE, payload: Buffer = NOT_JSON, ...fields: Buffer[]): Buffer => {
  const performative = composite(TRANSFER, uint(0), id, binary(Buffer.from('t')), uint(0), FALSE, more, ...fields)
  return frame(Buffer.concat([performative, payload]))
}
const transfer = (id: number, ...rest: Buffer[]): Buffer => transferNamed(uint(id), ...rest)
const NOT_JSON = described(0x75, binary(Buffer.from('this is not JSON')))
const NOTHINGS = compound(ARRAY, 0xffff_ffff, NULL)

for (const [what, sent, said] of [
  ['declares a frame of 4 GiB', Buffer.from('ffffffff02000000', 'hex'), /a frame of 4294967295 bytes/],
  ['declares a frame of 64 KiB and a byte', Buffer.from('0001000102000000', 'hex'), /a frame of 65537 bytes/],
  ['declares a frame of no bytes', Buffer.alloc(8), /a frame of 0 bytes/],
  ['sends a header among frames', Buffer.from('AMQP\x00\x01\x00\x00'), /a header out of place/],
  ['sends an array of four thousand million nothings', frame(composite(FLOW, NOTHINGS)), /more than 4096 values/],
  ['opens a session', frame(begin, { channel: 7 }), /a session or a link of its own/],
  ['opens a link', frame(attach), /a session or a link of its own/],
  ['sends a fourth message of three', Buffer.concat([0, 1, 2, 3].map((id) => transfer(id))), /more messages than/],
  [
    'says with a number that there is more',
    Buffer.concat([0, 1, 2, 3].map((id) => transfer(id, uint(1)))),
    /more messages than/,
  ],
  ['sends a message without a delivery id', transferNamed(NULL), /without a delivery id/],
  ['sends its second message without one', Buffer.concat([transfer(0), transferNamed(NULL)]), /without a delivery id/],
  ['names a message by a text', transferNamed(string('one')), /without a delivery id/],
  ['names a message by a number below zero', transferNamed(Buffer.from('54ff', 'hex')), /without a delivery id/],
  ['names a message by 2^32', transferNamed(Buffer.from('800000000100000000', 'hex')), /without a delivery id/],
] as [string, Buffer, RegExp][])
  test(`[AMQP-11] a broker that ${what} is disconnected`, { timeout: 60_000 }, async (t) => {
    const { broker, connector } = await start(t, { asked: (socket) => socket.write(sent) })
    await turnsUntil(() => connector.state() === 'reconnecting')
    assert.match(connector.lastError()!, said)
    await turnsUntil(() => broker.closed() === 1)
  })

test('[AMQP-11] what a broker says of itself is not decoded without bounds either', { timeout: 60_000 }, async (t) => {
  const { connector } = await start(t, { openFields: [NULL, NULL, NULL, NULL, NULL, NOTHINGS] })
  await turnsUntil(() => connector.state() === 'reconnecting')
  assert.match(connector.lastError()!, /more than 4096 values/)
})

test('[AMQP-11] no timer overflows by the idle timeout of a broker', { timeout: 60_000 }, async (t) => {
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const { broker } = await start(t, { openFields: [uint(0xffff_ffff)], asked: (socket) => socket.write(transfer(0)) })
  await turnsUntil(() => broker.received(DISPOSITION) === 1)
  assert.deepEqual(warnings, [])
})

test('[AMQP-11] dispositions and flows change nothing, whatever ranges they name', { timeout: 60_000 }, async (t) => {
  const all = [uint(0), uint(0xffff_ffff), TRUE]
  const { broker, connector } = await start(t, {
    asked(socket) {
      for (const role of [TRUE, FALSE]) socket.write(frame(composite(DISPOSITION, role, ...all)))
      const drain = [uint(0), uint(0), uint(1_000), NULL, TRUE]
      socket.write(frame(composite(FLOW, uint(0), uint(9), uint(0xffff_ffff), uint(9), ...drain)))
      socket.write(transfer(0))
    },
  })
  await turnsUntil(() => broker.received(DISPOSITION) === 1)
  assert.equal(connector.state(), 'running')
  assert.match(connector.lastError()!, /^a message was rejected: /)
})

test('[AMQP-10] an error in a turn that the library takes ends the connection, not the process', async (t) => {
  const broker = await startHostileBroker({})
  t.after(() => broker.close())
  const { promise: ended, resolve } = Promise.withResolvers<unknown>()
  const { hostname: host, port } = new URL(broker.url)
  const connection = rhea.create_container().create_connection({ host, port: Number(port), reconnect: false })
  connection.on('disconnected', (context: EventContext) => resolve(context.error))
  guardConnection(connection)
  connection.connect()
  const failed = new Error('it failed')
  const fail = (): never => {
    throw failed
  }
  Object.assign(connection.create_session(), { _process: fail }).begin()
  assert.equal(await ended, failed)
})

/** A guarded connection whose far ends are the test: returns what rhea would be given, and the error that ended it. */
function guarded(writableLength = 0) {
  const parts: Buffer[] = []
  const errors: Error[] = []
  const socket = { writableLength, destroyed: false, destroy: (error: Error) => void errors.push(error) }
  const connection = { socket, on_open: () => {}, _process: () => {}, input: (bytes: Buffer) => void parts.push(bytes) }
  guardConnection(connection as unknown as Connection)
  return { input: connection.input, parts, errors }
}

test('[AMQP-11] frames are read whole, in whatever pieces they arrive', () => {
  const large = frame(Buffer.concat([composite(TRANSFER, uint(0)), Buffer.alloc(65_000)]))
  const sent = [
    Buffer.from('AMQP\x03\x01\x00\x00'),
    frame(begin),
    frame(Buffer.alloc(0)),
    large,
    frame(attach),
    transfer(1),
  ]
  const bytes = Buffer.concat(sent)
  for (const size of [1, 3, 7, 8, 9, 100, 65_536, bytes.length]) {
    const { input, parts, errors } = guarded()
    for (let at = 0; at < bytes.length; at += size) input(bytes.subarray(at, at + size))
    assert.deepEqual([parts, errors], [sent, []], `in pieces of ${size}`)
  }
})

test('[AMQP-11] a broker that reads nothing is disconnected once a mebibyte waits for it', () => {
  for (const [waiting, count] of [
    [1_048_576, 0],
    [1_048_577, 1],
  ] as const) {
    const { input, errors } = guarded(waiting)
    input(frame(begin))
    assert.equal(errors.length, count)
  }
})

test('[AMQP-12] a message that its sender aborts is discarded, and the link goes on', {
  timeout: 60_000,
}, async (t) => {
  const message = (id: string): Buffer =>
    described(0x75, binary(Buffer.from(JSON.stringify({ entity: 'order', action: 'made', id }))))
  const aborted = (id: number, more: Buffer, payload: Buffer): Buffer =>
    transfer(id, more, payload, NULL, NULL, NULL, TRUE)
  const sockets: Socket[] = []
  const stored: string[] = []
  const { broker, connector } = await start(
    t,
    {
      asked(socket) {
        sockets.push(socket)
        socket.write(transfer(0, TRUE, message('whole')))
        socket.write(aborted(0, FALSE, Buffer.alloc(0)))
        socket.write(transfer(1, TRUE, message('part').subarray(0, 20)))
        // What says that there is more is to be ignored then.
        socket.write(aborted(1, TRUE, message('part').subarray(20)))
        socket.write(aborted(2, FALSE, message('at once')))
      },
    },
    10_000,
    async ({ events }) => {
      stored.push(...events.map(({ id }) => id))
      return [{ status: 'accepted', id: 'e', recipients: 0 }] as unknown as Awaited<ReturnType<Publish>>
    },
  )
  await turnsUntil(() => broker.received(FLOW) === 2)
  assert.deepEqual([broker.received(DISPOSITION), connector.lastMessageAt()], [0, null])
  for (const id of [3, 4, 5]) sockets[0]!.write(transfer(id, FALSE, message(`${id}`)))
  await turnsUntil(() => broker.received(DISPOSITION) > 0 && broker.received(FLOW) === 3)
  assert.deepEqual(stored, ['erp:3', 'erp:4', 'erp:5'])
  assert.deepEqual([connector.state(), connector.lastError()], ['running', null])
  assert.partialDeepStrictEqual(connector.takeCounts(), { received: 3, accepted: 3, rejected: 0 })
})

test('[ING-8] a message in frames without end is dropped while it arrives', { timeout: 60_000 }, async (t) => {
  const { broker, connector } = await start(t, {
    asked(socket) {
      for (let i = 0; i < 5_000; i++) socket.write(transfer(0, TRUE))
      socket.write(transfer(0))
    },
  })
  await turnsUntil(() => broker.received(DISPOSITION) === 1)
  assert.equal(connector.state(), 'running')
  assert.match(connector.lastError()!, /^a message was rejected: /)
})

test('[ING-8] a message of the largest size is read, in frames of the smallest', { timeout: 60_000 }, async (t) => {
  const size = 2_097_152
  const message = described(0x75, binary(Buffer.alloc(size, 0x20)))
  const { broker, connector } = await start(
    t,
    {
      asked(socket) {
        const inFrame = 512 - transfer(0, TRUE, Buffer.alloc(0)).length
        for (let at = 0; at < message.length; at += inFrame) {
          const isLast = at + inFrame >= message.length
          socket.write(transfer(0, isLast ? FALSE : TRUE, message.subarray(at, at + inFrame)))
        }
      },
    },
    size,
  )
  await turnsUntil(() => broker.received(DISPOSITION) === 1)
  assert.match(connector.lastError()!, /^a message was rejected: not a CloudEvent, and not JSON/)
})
