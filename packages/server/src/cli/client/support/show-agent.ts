// Shows an agent to a person.
import type { Agent } from '@sensorium/client'
import type { Field } from '../../terminal/record.ts'
import type { Styled } from '../../terminal/screen.ts'
import { when } from '../../terminal/when.ts'

export const statusOf = ({ status, paused }: Agent): Styled => ({
  text: paused ? `${status}, paused` : status,
  style: status === 'active' && !paused ? 'green' : 'yellow',
})

export const agentFields = (agent: Agent): Field[] => [
  ['id', agent.id],
  ['name', agent.name],
  ['description', agent.description],
  ['status', statusOf(agent)],
  ['receives by', agent.delivery_mode],
  ['endpoint', agent.delivery_endpoint],
  ['client', agent.client_type],
  ['team', agent.team_id],
  ['external id', agent.external_id],
  ['since', when(agent.created_at)],
]
