// A publish beside interests that do not match. Two services side by side, measured in turns: published events
// accumulate in both, interests in only one.
import { inTurns, interest, publish, sendAll, withFewInterests, type Engine, type Row } from './prepare.ts'

const INTERESTS = Number(process.env['BENCH_INTERESTS'] ?? 100_000)

export async function interests(engine: Engine): Promise<Row[]> {
  const small = await withFewInterests(engine)
  const large = await withFewInterests(engine)
  await sendAll(
    large.service,
    INTERESTS,
    (i) => {
      const { id, token } = large.agents[i % large.agents.length]!
      return interest(
        id,
        token,
        i % 2 === 0 ? `com.other.kind${i}.*` : `com.bench.kind${i}`,
        i % 4 === 0 ? `data.total > ${i % 1000}` : null,
      )
    },
    201,
  )
  const rates = await inTurns(small.service, large.service, {
    small: () => publish(small.sender, 'com.bench.order'),
    large: () => publish(large.sender, 'com.bench.order'),
  })
  const rss_mb = large.service.rssMb()
  await small.service.stop()
  await large.service.stop()
  const what = `publish beside ${INTERESTS} interests that do not match`
  return [{ engine, what, ...rates, goal: 'at least 0.9', rss_mb }]
}
