// The official MCP client, connected to a service.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export async function connectMcp(url: string, bearer: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const headers = { authorization: `Bearer ${bearer}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  return client
}

export interface ToolReply<T> {
  isError: boolean
  result: T
}

/** Calls a tool, and checks that text and structured result of a success agree. */
export async function useTool<T = Record<string, never>>(
  client: Client,
  name: string,
  input: object = {},
): Promise<ToolReply<T>> {
  const reply = await client.callTool({ name, arguments: input as Record<string, unknown> })
  const [content] = reply.content as { type: string; text: string }[]
  return { isError: reply.isError === true, result: JSON.parse(content!.text) as T }
}

/** For a caller whose tools list no events. */
export async function* noEvents(): AsyncGenerator<never> {}
