// Calls a service with JSON, and expects a success.

export type CallService = <T>(method: string, path: string, token: string | null, body?: unknown) => Promise<T>

/** `base` is the address to which each path is appended. Rejects with what a refusal says. */
export const makeCall =
  (base: string): CallService =>
  async <T>(method: string, path: string, token: string | null, body?: unknown) => {
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
    return (text === '' ? null : JSON.parse(text)) as T
  }
