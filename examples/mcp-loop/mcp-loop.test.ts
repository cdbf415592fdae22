// Runs the loop with the official MCP client against a real service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startService } from '../start-service.ts'

test('[DOC-14] a model handles an event with the tools alone: recalls, publishes, remembers, acknowledges', async (t) => {
  const { mcpLoop } = await import('./mcp-loop.ts')
  const { tools, text, asked, handled, memories } = await mcpLoop(await startService(t), ADMIN_KEY)
  assert.deepEqual(tools, ['check_mailbox', 'recall', 'publish_event', 'remember', 'acknowledge'])
  assert.equal(text, 'Hansen will hear of order 17 by telephone.')
  assert.deepEqual(asked.data, { customer: 'Hansen', via: 'telephone' }, 'what was recalled decided it')
  assert.equal(asked.causedBy, handled.eventId)
  assert.deepEqual(handled.states, ['acknowledged'])
  assert.deepEqual(memories.sort(), ['Hansen was told of the delay of order 17', 'How Hansen likes to be reached'])
})
