// Polls of a store in which many deliveries wait.
import { performance } from 'node:perf_hooks'
import { Connection, quantile } from '../support/load.ts'
import { startService, type Service } from '../support/servers.ts'
import { fill, interest, SCOPES, sendAll, type Engine, type Row } from './prepare.ts'

const PENDING = 1_000_000
const MAILBOXES = 20

/** Returns the median time of polls that each return ten, one at a time. The deliveries are then acknowledged. */
async function pollTime(service: Service, token: string, polls: number): Promise<number> {
  const connection = new Connection(service.port)
  const times: number[] = []
  for (let i = 0; i < polls; i++) {
    const sent = performance.now()
    const { body } = await connection.send({ method: 'GET', path: '/v1/delivery/poll?limit=10', token })
    times.push(performance.now() - sent)
    const ids = body.toString('latin1').match(/"dlv_[0-9a-z]+"/g) ?? []
    if (ids.length < 10) throw new Error(`a poll found ${ids.length}`)
    await connection.send({
      method: 'POST',
      path: '/v1/delivery/ack',
      token,
      body: `{"delivery_ids":[${ids.join(',')}]}`,
    })
  }
  connection.close()
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  )
}

export async function pending(engine: Engine): Promise<Row[]> {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const sender = await service.agent(SCOPES)
  const other = await service.agent(SCOPES)
  await sendAll(service, 1, () => interest(other.id, other.token, 'com.small.*'), 201)
  await fill({ service, sender: sender.token }, 'com.small.x', 10_000)
  await pollTime(service, other.token, 100)
  const small = await pollTime(service, other.token, 200)
  const agents = await Promise.all(Array.from({ length: MAILBOXES }, () => service.agent(SCOPES)))
  await sendAll(service, MAILBOXES, (i) => interest(agents[i]!.id, agents[i]!.token, 'com.large.*'), 201)
  await fill({ service, sender: sender.token }, 'com.large.x', PENDING / MAILBOXES)
  await pollTime(service, agents[0]!.token, 100)
  const large = await pollTime(service, agents[0]!.token, 200)
  const beside = await pollTime(service, other.token, 200)
  await service.stop()
  return [
    {
      engine,
      what: `poll of 10 in a store of ${PENDING} pending, p50 ms`,
      small,
      large,
      ratio: large / small,
      goal: 'at most 1.3',
    },
    {
      engine,
      what: `the same of a mailbox beside them, p50 ms`,
      small,
      large: beside,
      ratio: beside / small,
      goal: 'at most 1.3',
    },
  ]
}
