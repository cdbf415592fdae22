// The tools, resources and prompts of one caller, as an MCP server. A server is made for each request (or for a
// connection over standard input), so no session state stays on a node.
import { fromJsonSchema, McpServer, type CallToolResult, type jsonSchemaValidator } from '@modelcontextprotocol/server'
import { invalid } from '../kernel/failure.ts'
import { textSteps } from '../kernel/json-write.ts'
import { inSteps } from '../kernel/step-turns.ts'
import { unknownField } from '../operations/unknown-field.ts'
import { compileCheckFor, type Check } from '../operations/validate.ts'
import { registerPrompts } from './prompts.ts'
import { isRefusal } from './refusal.ts'
import { registerResources } from './resources.ts'
import type { ToolCaller, Tool } from './tool.ts'
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

const INSTRUCTIONS = `Sensorium brings you events and keeps what you learn.
Events arrive in your mailbox: check_mailbox, handle each one, then acknowledge it; extend_lease if you need longer. Before you act, recall what you know;
after you have learnt something, remember it. Use subscribe to choose what arrives, publish_event to tell others, and post_to_channel
to talk to the members of a channel. An event with reply_to asks you for a reply.`

/** Lets everything pass: `run` checks the arguments, and results are made here. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
}
// No tool takes the type of a client, whose values are configured.
const compileCheck = compileCheckFor([])

/** The schemas are prepared once, not for every request. */
const prepared = TOOLS.map((tool) => ({
  tool,
  check: compileCheck(tool.input),
  config: {
    title: tool.title,
    description: tool.description,
    inputSchema: fromJsonSchema<Record<string, unknown>>(structuredClone(tool.input), UNCHECKED),
    outputSchema: fromJsonSchema<Record<string, unknown>>(structuredClone(tool.output), UNCHECKED),
    annotations: {
      title: tool.title,
      readOnlyHint: tool.readOnly,
      idempotentHint: tool.idempotent,
      destructiveHint: tool.destructive,
      openWorldHint: false,
    },
  },
}))

/** Returns what a model can act on: the code, message and details of a refusal, which names an argument of the tool. */
function refusalResult(error: unknown, argumentOf: Tool['argumentOf']): CallToolResult {
  if (!isRefusal(error)) throw error
  let { code, message, details } = error
  const { field } = details as { field?: string }
  const argument = field === undefined ? undefined : argumentOf[field]
  if (argument !== undefined) {
    message = message.replace(field!, argument)
    details = { ...(details as object), field: argument }
  }
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: { code, message, details } }) }] }
}

/** Arguments that some workflow programs (n8n, for one) add to every call by themselves. No tool has such a name. */
const ADDED_BY_PROGRAMS: ReadonlySet<string> = new Set(['tool', 'toolCallId', 'sessionId', 'action', 'chatInput'])

/**
 * Returns the arguments that the model gave. Refuses the first wrong one as the API would. One that the tool does not
 * declare comes first, with the nearest that it does: a model that confuses names, such as the API's
 * `filter_expression` with the tool's `filter`, would otherwise believe that it was understood, or hear only of the
 * name that is missing.
 */
function checked({ input }: Tool, check: Check, given: Record<string, unknown>): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => !ADDED_BY_PROGRAMS.has(name)))
  const unknown = unknownField(input, own)
  const missing = ((input as { required?: string[] }).required ?? []).filter((name) => !(name in own))
  if (unknown?.example === null && missing.length > 0)
    unknown.expected += `; required and missing: ${missing.join(', ')}`
  const wrong = unknown ?? check(own)
  if (wrong) throw invalid(wrong)
  return own
}

async function run(
  tool: Tool,
  check: Check,
  input: Record<string, unknown>,
  caller: ToolCaller,
): Promise<CallToolResult> {
  let argumentOf: Tool['argumentOf'] = {}
  try {
    const given = checked(tool, check, input)
    // What is refused from here on is named as the API names it.
    argumentOf = tool.argumentOf
    const result = await tool.run(given as never, caller)
    const text = await inSteps(textSteps(result), caller.pause)
    return { content: [{ type: 'text', text }], structuredContent: result }
  } catch (error) {
    return refusalResult(error, argumentOf)
  }
}

interface McpServerOptions {
  version: string
  /** The agent that the model is, if it is known. */
  agentId: string | null
  /** Whether clients can subscribe to the mailbox and be notified of new events. */
  subscribes: boolean
}

/** `callerOf` returns the caller of one request; its calls end with the signal. */
export function makeMcpServer(
  callerOf: (signal: AbortSignal) => ToolCaller,
  { version, agentId, subscribes }: McpServerOptions,
): McpServer {
  const server = new McpServer(
    { name: 'sensorium', title: 'Sensorium', version },
    {
      instructions: agentId === null ? INSTRUCTIONS : `${INSTRUCTIONS}\nYou are the agent ${agentId}.`,
      capabilities: { tools: {}, resources: { subscribe: subscribes }, prompts: {} },
    },
  )
  for (const { tool, check, config } of prepared)
    server.registerTool(tool.name, config, (input, { mcpReq }) => run(tool, check, input, callerOf(mcpReq.signal)))
  registerResources(server, callerOf, subscribes)
  registerPrompts(server)
  return server
}
