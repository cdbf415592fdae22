// A client that expects trouble: a request ends after a while whatever happens, and goes to another node next time.
export interface Reply<T> {
  status: number
  body: T
}

/** Where the nodes are at this moment. */
export type Urls = () => readonly string[]

/** A node that hangs is given up after this long. */
const PATIENCE_MS = 8_000

export async function request<T>(
  url: string,
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
): Promise<Reply<T>> {
  const response = await fetch(url + path, {
    method,
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T }
}

export interface Caller {
  /** Rejects when no response was read: what became of the request is not known then. */
  call<T>(method: string, path: string, body?: unknown): Promise<Reply<T>>
  /** Again and again until a response with one of these statuses is read. */
  untilAnswered<T>(statuses: readonly number[], method: string, path: string, body?: unknown): Promise<Reply<T>>
}

export function makeCaller(urls: Urls, key: string): Caller {
  let token: string | null = null
  let turn = 0

  async function call<T>(method: string, path: string, body?: unknown): Promise<Reply<T>> {
    const all = urls()
    const url = all[turn++ % all.length]
    if (url === undefined) throw new Error('no node is up')
    if (token === null) {
      const exchanged = await request<{ access_token: string }>(url, 'POST', '/v1/auth/token', null, { api_key: key })
      if (exchanged.status !== 200) return exchanged as Reply<T>
      token = exchanged.body.access_token
    }
    const reply = await request<T>(url, method, path, token, body)
    if (reply.status === 401) token = null
    return reply
  }

  return {
    call,
    async untilAnswered<T>(
      statuses: readonly number[],
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Reply<T>> {
      for (;;) {
        const reply = await call<T>(method, path, body).catch(() => null)
        if (reply && statuses.includes(reply.status)) return reply
        if (reply && reply.status < 500 && ![401, 429].includes(reply.status))
          throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  }
}
