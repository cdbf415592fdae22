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

/**
 * Returns what the service responds with, or its status if that reports a failure. No more than `most` bytes are read,
 * compressed or not. A redirect is a failure: the texts go to the configured address alone.
 */
export async function postJson(
  address: string,
  apiKey: string | null,
  body: object,
  { signal, most }: { signal: AbortSignal; most: number },
): Promise<{ failed: number } | { body: unknown }> {
  const tooMuch = new AbortController()
  const response = await fetch(address, {
    method: 'POST',
    redirect: 'error',
    headers: { 'content-type': 'application/json', ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, tooMuch.signal]),
  })
  if (!response.ok) {
    await response.body?.cancel()
    return { failed: response.status }
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    chunks.push(chunk)
    if (size <= most) continue
    // Not left to the end of the loop, which waits until all that has arrived is decompressed.
    tooMuch.abort()
    throw new ServiceFailed(`the service responded with more than ${most} bytes`)
  }
  try {
    // Not `toString`, which keeps a byte order mark.
    return { body: JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))) }
  } catch {
    throw new ServiceFailed('the service responded with something that is not JSON')
  }
}
