// /agents/{id}/interests
import { operations } from '@sensorium/contract'
import { checkInterest, createInterest, type BegunInterest, type CreateTools } from '../interests/create.ts'
import { deleteInterest, interestPages } from '../interests/manage.ts'
import { shownInterest } from '../interests/sql.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import { makeTurns } from '../kernel/turns.ts'
import { longList } from './long-list.ts'
import { created, noContent } from './response.ts'
import { own, read, write, type Binding } from './binding.ts'

/** A backfill reads history a megabyte at a time, and one event may take 20 MB while the filter is evaluated. */
const BACKFILLS_AT_ONCE = 4

export function interestOperations(given: Omit<CreateTools, 'backfillSteps'>): Binding[] {
  const tools: CreateTools = { ...given, backfillSteps: makeStepTurns({ rest: 1 }) }
  const backfills = makeTurns({ what: 'backfills waiting', atOnce: BACKFILLS_AT_ONCE })
  return [
    read(operations.listInterests, async ({ principal, params, options }, db) =>
      longList('interests', interestPages(db, principal, params.id), shownInterest, options.brief),
    ),

    own(operations.createInterest, async ({ principal, params, body }, record) => {
      await checkInterest(tools.store, principal, params.id, body)
      const create = () =>
        createInterest(tools, principal, body, {
          earlier: (record?.earlier ?? null) as BegunInterest | null,
          async begun(tx, begun) {
            await record?.begun(tx, begun.id)
            await record?.reserve(tx, begun)
          },
          ended: async (tx, made) => record?.(tx, created(made)),
          stands: async (tx) => (await record?.stands(tx)) ?? true,
          withdrawn: async (tx) => (await record?.withdraw(tx)) ?? true,
        })
      return created(await (body.backfill ? backfills.take(principal.tenantId, principal.id, create) : create()))
    }),

    write(operations.deleteInterest, async ({ principal, params }, tx) => {
      await deleteInterest(tx, principal, params.id, params.interest_id, tools.now())
      return noContent()
    }),
  ]
}
