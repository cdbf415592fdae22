// The tools, resources and prompts of one caller, as an MCP server. One is made for each request (or for a connection
// over standard input), so nothing of a session stays on a node.
import { operations } from '@sensorium/contract'
import { fromJsonSchema, McpServer, ResourceTemplate, type CallToolResult } from '@modelcontextprotocol/server'
import { summaryOf } from './shapes.ts'
import type { Caller, Tool } from './tool.ts'
import { registerPrompts } from './prompts.ts'
import { directoryTools } from './tools/directory.ts'
import { eventTools } from './tools/events.ts'
import { mailboxTools } from './tools/mailbox.ts'
import { memoryTools } from './tools/memory.ts'
import { subscriptionTools } from './tools/subscriptions.ts'

export const TOOLS: readonly Tool[] = [
  ...mailboxTools,
  ...eventTools,
  ...subscriptionTools,
  ...memoryTools,
  ...directoryTools,
]

export const MAILBOX_URI = 'sensorium://mailbox'
const MEMORY_URI = 'sensorium://memories/'

const INSTRUCTIONS = `Sensorium brings you events and keeps what you learn.
Events arrive in your mailbox: check_mailbox, handle each one, then acknowledge it. Before you act, recall what you know;
after you have learnt something, remember it. Use subscribe to choose what arrives, publish_event to tell others, and post_to_channel
to talk to the members of a channel. An event with reply_to asks you for a reply.`

/** The schemas once, and not for every request. */
const prepared = TOOLS.map((tool) => ({
  tool,
  config: {
    title: tool.title,
    description: tool.description,
    inputSchema: fromJsonSchema<Record<string, unknown>>(structuredClone(tool.input)),
    outputSchema: fromJsonSchema<Record<string, unknown>>(structuredClone(tool.output)),
    annotations: {
      title: tool.title,
      readOnlyHint: tool.readOnly,
      idempotentHint: tool.idempotent,
      destructiveHint: tool.destructive,
      openWorldHint: false,
    },
  },
}))

/** An error of the catalogue, whichever side of the wire it was thrown on. */
interface Refusal {
  code: string
  message: string
  details: unknown
}

const isRefusal = (error: unknown): error is Refusal => error instanceof Error && 'code' in error && 'details' in error

/** What a model can act on: the code, the sentence and the details of the refusal. */
function refusalResult(error: unknown): CallToolResult {
  if (!isRefusal(error)) throw error
  const { code, message, details } = error
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: { code, message, details } }) }] }
}

async function run(tool: Tool, input: Record<string, unknown>, caller: Caller): Promise<CallToolResult> {
  try {
    const result = await tool.run(input as never, caller)
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result }
  } catch (error) {
    return refusalResult(error)
  }
}

function registerResources(server: McpServer, { id, call }: Caller): void {
  const json = (uri: URL, value: unknown) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(value) }],
  })
  server.registerResource(
    'mailbox',
    MAILBOX_URI,
    {
      title: 'Mailbox',
      description: 'How many events wait for you, and the last ones you handled. Subscribe to hear of new ones.',
      mimeType: 'application/json',
    },
    async (uri) => {
      const queue = await call(operations.getQueue, { params: { id } })
      const { events } = await call(operations.listRecentEvents, { params: { id }, query: { limit: 5 } })
      return json(uri, { queue, recent_events: events })
    },
  )
  const template = new ResourceTemplate(`${MEMORY_URI}{id}`, {
    list: async () => {
      const { memories } = await call(operations.listMemories, { query: { limit: 50 } })
      return {
        resources: memories.map((memory) => ({
          uri: MEMORY_URI + memory.id,
          name: summaryOf(memory).title,
          description: summaryOf(memory).snippet,
          mimeType: 'application/json',
        })),
      }
    },
  })
  server.registerResource(
    'memory',
    template,
    { title: 'Memory', description: 'A memory that you may see.', mimeType: 'application/json' },
    async (uri, variables) => json(uri, await call(operations.getMemory, { params: { id: String(variables['id']) } })),
  )
}

export function makeMcpServer(caller: Caller, version: string): McpServer {
  const server = new McpServer(
    { name: 'sensorium', title: 'Sensorium', version },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {} },
    },
  )
  for (const { tool, config } of prepared) server.registerTool(tool.name, config, (input) => run(tool, input, caller))
  registerResources(server, caller)
  registerPrompts(server)
  return server
}
