// The mailbox and the memories as resources.
import { operations } from '@sensorium/contract'
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
} from '@modelcontextprotocol/server'
import { textSteps } from '../kernel/json-write.ts'
import { inSteps } from '../kernel/step-turns.ts'
import { isRefusal } from './refusal.ts'
import { shownData, summaryOf, USUAL_DATA } from './shapes.ts'
import type { ToolCaller } from './tool.ts'

export const MAILBOX_URI = 'sensorium://mailbox'
const MEMORY_URI = 'sensorium://memories/'
const LISTED = 50

/**
 * Returns the contents of a resource. A refusal becomes a protocol error; the protocol has none for a missing scope.
 */
async function contentsOf(uri: URL, caller: ToolCaller, read: (caller: ToolCaller) => Promise<unknown>) {
  try {
    const text = await inSteps(textSteps(await read(caller)), caller.pause)
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] }
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { code, message, details } = error
    if (code === 'not_found') throw new ResourceNotFoundError(uri.href, message)
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message, { code, details })
  }
}

async function listMemories({ call }: ToolCaller) {
  try {
    const { memories } = await call(operations.listMemories, { query: { limit: LISTED } })
    return memories
  } catch (error) {
    // A caller without memory:read can still list the mailbox.
    if (isRefusal(error) && error.code === 'insufficient_scope') return []
    throw error
  }
}

export function registerResources(
  server: McpServer,
  callerOf: (signal: AbortSignal) => ToolCaller,
  subscribes: boolean,
): void {
  server.registerResource(
    'mailbox',
    MAILBOX_URI,
    {
      title: 'Mailbox',
      description: `How many events are waiting for you, and the last ones that you handled.${subscribes ? ' Subscribe to be notified of new ones.' : ''}`,
      mimeType: 'application/json',
    },
    (uri, { mcpReq }) =>
      contentsOf(uri, callerOf(mcpReq.signal), async ({ id, call, events, pause }) => {
        const params = { id }
        const queue = await call(operations.getQueue, { params })
        const input = { params, query: { limit: 5 } }
        const recent: object[] = []
        for await (const event of events(operations.listRecentEvents, input)) {
          const name = 'data_base64' in event ? 'data_base64' : 'data'
          const { data, ...isCut } = (await shownData(event[name as 'data'], USUAL_DATA, pause)).fields
          recent.push({ ...event, [name]: data, ...isCut })
        }
        return { queue, recent_events: recent }
      }),
  )
  const template = new ResourceTemplate(`${MEMORY_URI}{id}`, {
    list: async ({ mcpReq }) => ({
      resources: (await listMemories(callerOf(mcpReq.signal))).map((memory) => ({
        uri: MEMORY_URI + memory.id,
        name: summaryOf(memory).title,
        // Programs show this one to people. Without it, each memory would have the title of the template.
        title: summaryOf(memory).title,
        description: summaryOf(memory).snippet,
        mimeType: 'application/json',
      })),
    }),
  })
  server.registerResource(
    'memory',
    template,
    { title: 'Memory', description: 'A memory that you can see.', mimeType: 'application/json' },
    (uri, variables, { mcpReq }) =>
      contentsOf(uri, callerOf(mcpReq.signal), ({ call }) =>
        call(operations.getMemory, { params: { id: String(variables['id']) } }),
      ),
  )
}
