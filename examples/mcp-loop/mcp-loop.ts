// A language model that works with Sensorium's tools over MCP: it checks its mailbox, recalls what it knows, publishes
// what should happen, remembers that, and acknowledges. The model here is scripted, so that the example needs no
// account anywhere; `runLoop` works with any other `Model` as well.
//
// Run it against a service: node examples/mcp-loop/mcp-loop.ts http://localhost:8080 ak_live_…
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createClient, type Client, type KeyMint } from '@sensorium/client'

interface ToolCall {
  tool: string
  input: Record<string, unknown>
}
interface Turn extends ToolCall {
  /** The text that the model reads, an error included. */
  result: string
  isError: boolean
}
/** Given the turns so far and the available tools, a model calls a tool or ends with a text. */
type Model = (turns: readonly Turn[], tools: readonly { name: string }[]) => Promise<ToolCall | { text: string }>

const MOST_TURNS = 20

async function runLoop(mcp: McpClient, model: Model): Promise<{ turns: Turn[]; text: string }> {
  const { tools } = await mcp.listTools()
  const turns: Turn[] = []
  while (turns.length < MOST_TURNS) {
    const next = await model(turns, tools)
    if ('text' in next) return { turns, text: next.text }
    const reply = await mcp.callTool({ name: next.tool, arguments: next.input })
    const result = reply.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    // A refusal goes back to the model like any result, so that it can correct itself.
    turns.push({ ...next, result, isError: reply.isError === true })
  }
  throw new Error(`the model did not come to an end in ${MOST_TURNS} turns`)
}

interface Mailbox {
  deliveries: { delivery_id: string; event_id: string; data: { order: string; customer: string } }[]
}
interface Recalled {
  memories: { title: string; snippet: string }[]
}

/** Stands in for a language model: its next step follows from the previous results. */
const scripted: Model = async (turns) => {
  const resultOf = <T>(tool: string): T | undefined => {
    const turn = turns.find((turn) => turn.tool === tool)
    if (turn?.isError) throw new Error(`${tool}: ${turn.result}`)
    return turn && (JSON.parse(turn.result) as T)
  }
  const mailbox = resultOf<Mailbox>('check_mailbox')
  if (!mailbox) return { tool: 'check_mailbox', input: { limit: 1, wait_seconds: 20 } }
  const [delivery] = mailbox.deliveries
  if (!delivery) return { text: 'Nothing arrived.' }
  const { order, customer } = delivery.data

  const recalled = resultOf<Recalled>('recall')
  if (!recalled) return { tool: 'recall', input: { query: `How does ${customer} want to be told about a delay?` } }
  const via = recalled.memories.some(({ snippet }) => snippet.includes('telephone')) ? 'telephone' : 'mail'

  const published = resultOf<{ event_id: string }>('publish_event')
  if (!published) {
    const input = {
      type: 'com.shop.contact.requested',
      subject: `order/${order}`,
      data: { customer, via },
      caused_by: delivery.event_id,
    }
    return { tool: 'publish_event', input }
  }
  if (!resultOf('remember')) {
    const input = {
      title: `${customer} was told of the delay of order ${order}`,
      content: `Asked the desk to reach them by ${via}.`,
      type: 'episodic',
      source_event_id: delivery.event_id,
    }
    return { tool: 'remember', input }
  }
  if (!resultOf('acknowledge')) return { tool: 'acknowledge', input: { delivery_ids: [delivery.delivery_id] } }
  return { text: `${customer} will hear of order ${order} by ${via}.` }
}

async function register(
  url: string,
  admin: Client,
  name: string,
  scopes: KeyMint['scopes'],
): Promise<{ id: string; key: string; client: Client }> {
  const { id } = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
  const { key } = await admin.keys.mint(id, { scopes })
  return { id, key, client: createClient({ url, apiKey: key }) }
}

export interface Outcome {
  tools: string[]
  text: string
  /** What the desk was asked, and the event that caused the question. */
  asked: { data: unknown; causedBy: unknown }
  /** The event that the model handled, and the states of its deliveries. */
  handled: { eventId: string; states: string[] }
  /** The titles of all memories that the model's agent has now. */
  memories: string[]
}

export async function mcpLoop(url: string, adminKey: string): Promise<Outcome> {
  const admin = createClient({ url, apiKey: adminKey })
  const shop = await register(url, admin, 'Shop', ['send'])
  const desk = await register(url, admin, 'Desk', ['receive', 'interests:write'])
  const scopes: KeyMint['scopes'] = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']
  const assistant = await register(url, admin, 'Assistant', scopes)
  await desk.client.interests.create(desk.id, { event_type: 'com.shop.contact.requested' })
  await assistant.client.interests.create(assistant.id, { event_type: 'com.shop.order.delayed' })
  await assistant.client.memory.remember({
    title: 'How Hansen likes to be reached',
    content: 'Hansen reads no mail: call by telephone, also about delays.',
  })
  const delayed = await shop.client.publish({
    type: 'com.shop.order.delayed',
    subject: 'order/17',
    data: { order: '17', customer: 'Hansen' },
  })

  // The model's side needs nothing but the agent's key.
  const mcp = new McpClient({ name: 'mcp-loop', version: '1.0.0' })
  const headers = { authorization: `Bearer ${assistant.key}` }
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  const { turns, text } = await runLoop(mcp, scripted).finally(() => mcp.close())

  const [request] = (await desk.client.deliveries.poll({ limit: 1, wait: 20 })).deliveries
  if (!request) throw new Error('the desk was asked nothing')
  await desk.client.deliveries.ack([request.id])
  const { deliveries } = await shop.client.events.get(delayed.event_id)
  const memories = await assistant.client.memory.list()
  return {
    tools: turns.map(({ tool }) => tool),
    text,
    asked: { data: request.payload['data'], causedBy: request.payload['causationid'] },
    handled: { eventId: delayed.event_id, states: deliveries.map(({ state }) => state) },
    memories: memories.memories.map(({ title }) => title),
  }
}

if (import.meta.main) {
  const [url, adminKey] = process.argv.slice(2)
  if (!url || !adminKey) throw new Error('Usage: mcp-loop.ts <address of the service> <org-admin key>')
  console.dir(await mcpLoop(url, adminKey), { depth: 4 })
}
