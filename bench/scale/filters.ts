// A publish beside filters that match.
import { startService } from '../support/servers.ts'
import { interest, publish, SCOPES, sendAll, timeOf, type Engine, type Row } from './prepare.ts'

const TIMES = 400

export async function filters(engine: Engine): Promise<Row[]> {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const sender = await service.agent(SCOPES)
  const receiver = await service.agent(SCOPES)
  // One recipient, so that the evaluation of the filters is measured, not the writing of deliveries.
  const time = () => timeOf(service, TIMES, () => publish(sender.token, 'com.bench.order'))
  await sendAll(service, 1, () => interest(receiver.id, receiver.token, 'com.bench.*', 'data.total >= 0'), 201)
  await time()
  const one = await time()
  await sendAll(
    service,
    999,
    (i) => interest(receiver.id, receiver.token, 'com.bench.*', `data.total >= 0 && data.text != "${i}"`),
    201,
  )
  await time()
  const thousand = await time()
  await service.stop()
  return [
    {
      engine,
      what: 'publish beside 1,000 filters that match, p50 ms',
      small: one,
      large: thousand,
      ratio: thousand - one,
      goal: 'at most 2 (µs each)',
    },
  ]
}
