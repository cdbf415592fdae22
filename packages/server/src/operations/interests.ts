// /agents/{id}/interests
import { operations } from '@sensorium/contract'
import { checkInterest, createInterest, type CreateTools } from '../interests/create.ts'
import { deleteInterest, listInterests } from '../interests/manage.ts'
import { created, noContent, ok } from './response.ts'
import { own, read, write, type Binding } from './binding.ts'

export const interestOperations = (tools: CreateTools): Binding[] => [
  read(operations.listInterests, async ({ principal, params }, db) =>
    ok({ interests: await listInterests(db, principal, params.id) }),
  ),

  own(operations.createInterest, async ({ principal, params, body }, record) => {
    await checkInterest(tools.store, principal, params.id, body)
    return created(await createInterest(tools, principal, body, async (tx, made) => record?.(tx, created(made))))
  }),

  write(operations.deleteInterest, async ({ principal, params }, tx) => {
    await deleteInterest(tx, principal, params.id, params.interest_id, tools.now())
    return noContent()
  }),
]
