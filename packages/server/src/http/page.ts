// A page outside of the API, such as the OpenAPI document or a guide.

export interface ShownPage {
  status?: number
  type?: string
  headers?: Record<string, string>
  body: string | Uint8Array
}

export interface Page {
  path: string
  /** Called with the Accept header: the root answers people and programs differently. */
  show(accept: string | undefined): Promise<ShownPage>
  /** What a browser is shown in place of the error, for a path below this one that leads nowhere. */
  showMissing?(): Promise<ShownPage>
}

/** Browsers request HTML by name; curl and programs accept anything. */
export const wantsHtml = (accept: string | undefined): boolean => accept?.toLowerCase().includes('text/html') ?? false

/** Forbids inline scripts and styles, requests to other origins, and framing. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/**
 * Makes a text with its first request and caches it, as bytes: it does not change while a service runs, and encoding it
 * again for a hundred requests at once took 0.2 s.
 */
export function once(make: () => string | Promise<string>): () => Promise<Buffer> {
  let made: Promise<Buffer> | undefined
  return () =>
    (made ??= Promise.resolve()
      .then(make)
      .then((text) => Buffer.from(text)))
}
