// /agents/{id}/interests
import { operations } from '@sensorium/contract'
import type { Wakeups } from '../../delivery/wake.ts'
import { checkInterest, createInterest, type CreateTools } from '../../interests/create.ts'
import { deleteInterest, listInterests } from '../../interests/manage.ts'
import { created, noContent, ok } from '../answer.ts'
import { own, read, write, type Route } from '../route.ts'

export const interestRoutes = (tools: CreateTools & { wakeups: Wakeups }): Route[] => [
  read(operations.listInterests, async ({ principal, params }, db) =>
    ok({ interests: await listInterests(db, principal, params.id) }),
  ),

  own(operations.createInterest, async ({ principal, params, body }, remember) => {
    await checkInterest(tools.store, principal, params.id, body)
    const { interest, delivered } = await createInterest(tools, principal, body, async (tx, made) =>
      remember?.(tx, created(made)),
    )
    if (delivered > 0) tools.wakeups.wake([principal.id])
    return created(interest)
  }),

  write(operations.deleteInterest, async ({ principal, params }, tx) => {
    await deleteInterest(tx, principal, params.id, params.interest_id, tools.now())
    return noContent()
  }),
]
