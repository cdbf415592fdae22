// The form for a new interest, tried against recent events while it is typed.
import type { Agent, Client, Interest, InterestCreate } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { FilterField, TypeField, useTriedFilter } from '../../components/subscription-fields.tsx'
import { useAction } from '../../api/calls.ts'
import { isSignedOut, makeClient, useSession } from '../../session/session.ts'
import { showFailure } from '../../shell/toast-store.ts'
import { FilterPreview } from './filter-preview.tsx'

const FIELDS = ['event_type', 'filter_expression', 'priority', 'enrichment_depth', 'backfill']
const DEPTHS: readonly { value: InterestCreate['enrichment_depth']; says: string }[] = [
  { value: 'none', says: 'The event alone' },
  { value: 'light', says: 'With a few memories about it' },
  { value: 'full', says: 'With more memories, and what they relate to' },
]

/**
 * Only an agent itself can create its interests; its admin cannot. So an admin does here what they would do by hand:
 * mint a key for the agent that can do nothing else, use it once and revoke it. The key has no expiry, because the
 * clock of this machine may be minutes off. If it stays, because the page is closed meanwhile, nobody knows it.
 */
async function createFor(client: Client, agentId: string, body: InterestCreate): Promise<Interest> {
  const { id, key } = await client.keys.mint(agentId, { scopes: ['interests:write'] })
  try {
    return await makeClient({ apiKey: key }).interests.create(agentId, body)
  } catch (error) {
    // A 401 here refuses the new key, not the admin, whom it would otherwise sign out.
    if (!isSignedOut(error)) throw error
    throw new Error(`The key that was minted for this was refused: ${(error as Error).message}`)
  } finally {
    // A failure is shown apart from the form, which tells whether there is an interest now.
    await client.keys.revoke(agentId, id).catch(({ message }: Error) => {
      showFailure(new Error(`The key ${id} was used and could not be revoked: ${message}`))
    })
  }
}

export function NewInterest({ agent, onClose }: { agent: Agent; onClose(): void }) {
  const [type, setType] = useState('')
  const [filter, setFilter] = useState('')
  const [priority, setPriority] = useState(0)
  const [depth, setDepth] = useState<InterestCreate['enrichment_depth']>('none')
  const [backfill, setBackfill] = useState(0)
  const isSelf = useSession().isSelf(agent.id)
  const make = isSelf ? (client: Client, body: InterestCreate) => client.interests.create(agent.id, body) : null
  const create = useAction(make ?? ((client, body: InterestCreate) => createFor(client, agent.id, body)), {
    refresh: ['listInterests', 'listKeys', 'getQueue'],
    done: ({ event_type }) => `${agent.name} now receives ${event_type}`,
    quiet: true,
  })
  const tried = useTriedFilter(filter)

  function submit(event: FormEvent): void {
    event.preventDefault()
    const body: InterestCreate = {
      event_type: type,
      filter_expression: filter.trim() === '' ? null : filter,
      priority,
      enrichment_depth: depth,
      ...(backfill > 0 ? { backfill } : {}),
    }
    create.mutate(body, { onSuccess: onClose })
  }

  return (
    <form className="stack wide" onSubmit={submit}>
      <TypeField value={type} onChange={setType} problem={problemOf(create.error, 'event_type')} />
      <FilterField value={filter} onChange={setFilter} problem={problemOf(create.error, 'filter_expression')} />
      {tried ? <FilterPreview agent={agent} glob={type} source={filter} tried={tried} /> : null}
      <Field
        label="Memories"
        hint={DEPTHS.find(({ value }) => value === depth)?.says}
        problem={problemOf(create.error, 'enrichment_depth')}
      >
        <select value={depth} onChange={(event) => setDepth(event.target.value as typeof depth)}>
          {DEPTHS.map(({ value }) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      </Field>
      <div className="columns even">
        <Field label="Priority" hint="Higher comes first" problem={problemOf(create.error, 'priority')}>
          <input type="number" value={priority} onChange={(event) => setPriority(event.target.valueAsNumber || 0)} />
        </Field>
        <Field label="Backfill" hint="Newest events to deliver at once" problem={problemOf(create.error, 'backfill')}>
          <input
            type="number"
            min={0}
            max={1000}
            value={backfill}
            onChange={(event) => setBackfill(event.target.valueAsNumber || 0)}
          />
        </Field>
      </div>
      {isSelf ? null : (
        <p className="quiet small">
          An agent says itself what it wants. The console mints a key for {agent.name} that can only do this, uses it
          once and revokes it.
        </p>
      )}
      <FormProblem error={create.error} fields={FIELDS} />
      <FormEnd onCancel={onClose} busy={create.isPending}>
        Add the interest
      </FormEnd>
    </form>
  )
}
