// A gateway between a command and a service, which a test makes misbehave.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request on its way to the service. */
export interface Passing {
  /** Method and path, such as `POST /v1/events`. */
  line: string
  body: Buffer
  /** Asks the service, and resolves with its response. */
  ask(): Promise<Response>
  response: ServerResponse
}

export interface Gateway {
  url: string
  close(): void
}

/** `meddle` returns what the command receives; null if it receives nothing more than what `meddle` has written. */
export async function startGateway(
  service: string,
  meddle: (passing: Passing) => Promise<Response | null>,
): Promise<Gateway> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const ask = (): Promise<Response> =>
      fetch(`${service}${request.url}`, {
        method: request.method!,
        headers: headers as Record<string, string>,
        ...(body.length === 0 ? {} : { body }),
      })
    const line = `${request.method} ${request.url!.split('?')[0]}`
    const answer = await meddle({ line, body, ask, response })
    if (answer === null) return
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    response.end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
