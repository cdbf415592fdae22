// Bounds what one exchange with the library costs.
import type { JSONRPCMessage, McpServer } from '@modelcontextprotocol/server'
import { snippet } from './tool.ts'

/** The library puts names from the request and every problem that it finds into the text of an error. */
export const MAX_ERROR_TEXT = 500

function withShortError(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  return { ...message, error: { ...message.error, message: snippet(message.error.message, MAX_ERROR_TEXT) } }
}

/** Makes the server send only short error texts. Returns it. */
export function boundExchange(server: McpServer): McpServer {
  const connect = server.connect.bind(server)
  server.connect = (transport) => {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(withShortError(message), options)
    return connect(transport)
  }
  return server
}
