// Bounds what one exchange with the library costs.
import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server'
import { snippet } from '../kernel/beginning-of.ts'
import type { Pause } from '../kernel/step-turns.ts'

/** The library puts names from the request and every problem that it finds into the text of an error. */
export const MAX_ERROR_TEXT = 500

function withShortError(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  return { ...message, error: { ...message.error, message: snippet(message.error.message, MAX_ERROR_TEXT) } }
}

/**
 * Makes the server send only short error texts, and handle the messages of a batch one by one: the first at once, each
 * other when `turn` resolves. A hundred requests for the list of tools are 2.3 MB, and were written in one turn of the
 * event loop. Returns the server.
 */
export function boundExchange(server: McpServer, turn: Pause): McpServer {
  const connect = server.connect.bind(server)
  server.connect = async (transport) => {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(withShortError(message), options)
    await connect(transport)
    const { onmessage } = transport
    let isFirst = true
    transport.onmessage = (message, extra) => {
      // Protocol 2026-07-28 has no batches, and there the library sets the HTTP status by what is sent at once.
      if (isFirst) onmessage?.(message, extra)
      else void handleLater(() => onmessage?.(message, extra), transport)
      isFirst = false
    }
  }

  async function handleLater(handle: () => void, transport: Transport): Promise<void> {
    await turn()
    // The client may have left meanwhile.
    if (!server.isConnected()) return
    try {
      handle()
    } catch (error) {
      transport.onerror?.(error as Error)
      await transport.close()
    }
  }
  return server
}
