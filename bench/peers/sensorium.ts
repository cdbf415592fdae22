import { Connection } from '../support/load.ts'
import { openStream } from '../support/open-stream.ts'
import { startService } from '../support/servers.ts'
import { RECIPIENTS, type Peer } from './peer.ts'

const PUBLISHING = 64

/** Our service over HTTP, with an interest for each recipient, and receivers that acknowledge every event. */
export async function startSensorium(engine: 'sqlite' | 'postgres', by: 'polls' | 'streams'): Promise<Peer> {
  const service = await startService(engine, { LOG_LEVEL: 'error' })
  const sender = await service.agent(['send'])
  const tokens: string[] = []
  for (let i = 0; i < RECIPIENTS; i++) {
    const { id, token } = await service.agent(['receive', 'interests:write'])
    const interest = { event_type: 'bench.*', priority: 0, enrichment_depth: 'none' }
    await service.call('POST', `/v1/agents/${id}/interests`, token, interest)
    tokens.push(token)
  }
  const free = Array.from({ length: PUBLISHING }, () => new Connection(service.port))
  const receiving: { close(): void }[] = []
  let isOver = false

  async function poll(token: string, connection: Connection, acks: Connection, heard: (id: string) => void) {
    while (!isOver) {
      const { body } = await connection.send({ method: 'GET', path: '/v1/delivery/poll?limit=100&wait=2', token })
      const text = body.toString('latin1')
      for (const [, id] of text.matchAll(/"event_id":"([^"]+)"/g)) heard(id!)
      const ids = text.match(/"dlv_[0-9a-z]+"/g)
      // The next poll does not wait for the acknowledgement, as in any receiver whose work takes longer than a request.
      if (ids)
        void acks.send({ method: 'POST', path: '/v1/delivery/ack', token, body: `{"delivery_ids":[${ids.join()}]}` })
    }
  }

  async function stream(token: string, acks: Connection, heard: (id: string) => void): Promise<void> {
    const socket = await openStream(service.port, token, (received) => {
      for (const { eventId } of received) heard(eventId)
      const ids = received.map(({ deliveryId }) => `"${deliveryId}"`)
      if (ids.length > 0)
        void acks.send({ method: 'POST', path: '/v1/delivery/ack', token, body: `{"delivery_ids":[${ids.join()}]}` })
    })
    receiving.push({ close: () => socket.destroy() })
  }

  return {
    name: `Sensorium, ${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${by}`,
    durability: 'on disk (fsync), dedup by id',
    pid: () => service.pid,
    async publish({ id, text }) {
      const connection = free.pop() ?? new Connection(service.port)
      const body = `{"specversion":"1.0","type":"bench.x","source":"/b","id":"${id}","data":{"text":"${text}"}}`
      const { status } = await connection.send({ method: 'POST', path: '/v1/events', token: sender.token, body })
      free.push(connection)
      if (status !== 202) throw new Error(`a publish was answered ${status}`)
    },
    async receive(recipient, heard) {
      const token = tokens[recipient]!
      const acks = new Connection(service.port)
      receiving.push(acks)
      if (by === 'streams') return stream(token, acks, heard)
      const polls = new Connection(service.port)
      receiving.push(polls)
      poll(token, polls, acks, heard).catch(() => {})
    },
    async stop() {
      isOver = true
      for (const connection of [...free, ...receiving]) connection.close()
      await service.stop()
    },
  }
}
