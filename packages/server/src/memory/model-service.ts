// What the services of models have in common: settings, address, and how they are asked.
export interface ModelService {
  url: string
  model: string
  apiKey: string | null
}

/** The service responded, with an error or with something else than it was asked for. It may be about the text. */
export class ServiceFailed extends Error {}

/** Accepts a base URL with or without its version, or the whole address. */
export function addressOf(url: string, name: 'embeddings' | 'rerank'): string {
  const address = new URL(url)
  const path = address.pathname.replace(/\/+$/, '')
  address.pathname = path.endsWith(`/${name}`) ? path : `${path === '' ? '/v1' : path}/${name}`
  return address.href
}

/** Returns the response. The body of one that reports a failure is not read. */
export async function postJson(
  address: string,
  apiKey: string | null,
  body: object,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) },
    body: JSON.stringify(body),
    signal,
  })
  if (!response.ok) await response.body?.cancel()
  return response
}
