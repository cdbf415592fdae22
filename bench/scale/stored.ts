// A publish, and a page of events, in a store that keeps many events. Nobody received them: what waits in mailboxes is
// measured in pending.ts.
import { fill, inTurns, publish, timeOf, withFewInterests, type Engine, type Prepared, type Row } from './prepare.ts'

const STORED = Number(process.env['BENCH_EVENTS'] ?? 1_000_000)
const TIMES = 200

const pageTime = ({ service }: Prepared): Promise<number> =>
  timeOf(service, TIMES, () => ({ method: 'GET', path: '/v1/events?limit=50', token: service.admin }))

export async function stored(engine: Engine): Promise<Row[]> {
  const small = await withFewInterests(engine)
  const large = await withFewInterests(engine)
  await fill(large, 'com.nobody.x', STORED)
  const rates = await inTurns(small.service, large.service, {
    small: () => publish(small.sender, 'com.bench.order'),
    large: () => publish(large.sender, 'com.bench.order'),
  })
  for (const one of [small, large]) await pageTime(one)
  const pages = { small: await pageTime(small), large: await pageTime(large) }
  const rss_mb = large.service.rssMb()
  await small.service.stop()
  await large.service.stop()
  return [
    { engine, what: `publish with ${STORED} events stored`, ...rates, goal: 'at least 0.9', rss_mb },
    {
      engine,
      what: `page of 50 events with ${STORED} stored, p50 ms`,
      ...pages,
      ratio: pages.large / pages.small,
      goal: 'at most 1.3',
    },
  ]
}
