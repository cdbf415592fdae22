// The operations that the operator can call in a process without a service, such as the command line: those that need
// only a store.
import { makeAudit } from '../audit/audit.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import { idMaker } from '../kernel/ids.ts'
import { makeLogger } from '../kernel/logger.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { NO_LIMITS } from '../limits/limits-of.ts'
import { makeRateLimiter } from '../limits/rate-limit.ts'
import { makeAnnouncements } from '../store/announce.ts'
import type { Store } from '../store/db.ts'
import { auditOperations } from './audit.ts'
import { connectorOperations } from './connectors.ts'
import { makeIdempotency } from './idempotency.ts'
import { operatorOperations } from './operator.ts'
import { makeOperations, type Operations } from './perform.ts'
import { makeCompileCheck } from './validate.ts'
import { webhookOperations } from './webhooks.ts'

export function makeOperatorOperations(store: Store, secrets: Secrets, clock: Clock, config: Config): Operations {
  const { announce } = makeAnnouncements(store, clock.now)
  const tools = { makeId: idMaker(clock.now), secrets, announce, now: clock.now }
  return makeOperations(
    [
      ...operatorOperations({ ...tools, settings: null }),
      ...webhookOperations({ ...tools, publicUrl: config.publicUrl }),
      ...connectorOperations(tools),
      ...auditOperations(),
    ],
    {
      store,
      audit: makeAudit(tools.makeId, clock.now),
      idempotency: makeIdempotency(store, secrets, clock, makeLogger('silent')), // standard output is the command's
      limiter: makeRateLimiter(config.rateLimitWindowS, clock, null),
      limitsOf: () => NO_LIMITS,
      compileCheck: makeCompileCheck([...config.clientTypes, 'other']),
    },
  )
}
