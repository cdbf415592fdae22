// Browsers offer `crypto.randomUUID` only to pages loaded over TLS or from this machine. A console in a private network
// is neither, and the client needs ids for its idempotency keys.

export function withRandomIds(): void {
  if (typeof crypto.randomUUID === 'function') return
  Object.defineProperty(crypto, 'randomUUID', { value: randomId })
}

/** Returns a version 4 UUID from the same random source. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
