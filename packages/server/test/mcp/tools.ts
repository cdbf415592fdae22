// The official MCP client, connected to a service.
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { TOOLS } from '../../src/mcp/make-mcp-server.ts'
import { compileCheckFor } from '../../src/operations/validate.ts'

const compileCheck = compileCheckFor([])
const checks = new Map(TOOLS.map(({ name, output }) => [name, compileCheck(output)]))

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

/** Calls a tool, and checks that the result of a success is what the tool declares. */
export async function useTool<T = Record<string, never>>(
  client: Client,
  name: string,
  input: object = {},
): Promise<ToolReply<T>> {
  const reply = await client.callTool({ name, arguments: input as Record<string, unknown> })
  const [content] = reply.content as { type: string; text: string }[]
  const result = JSON.parse(content!.text) as T
  const isError = reply.isError === true
  if (!isError) assert.deepEqual([checks.get(name)!(result), reply.structuredContent], [null, result], name)
  return { isError, result }
}

/** For a caller whose tools list no events. */
export async function* noEvents(): AsyncGenerator<never> {}
