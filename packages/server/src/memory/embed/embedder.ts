// The interface of an embedder: the built-in model in its threads, or a service that speaks OpenAI's interface.

/**
 * One window of a text: its vector of length 1, and 64 signed bytes for each token that carries meaning (none from a
 * service).
 */
export interface EmbeddedWindow {
  vector: Float32Array
  tokens: Int8Array
  /** For a query: the word that each of these tokens belongs to. */
  words?: readonly string[]
  /** The built-in model knows too few of its words: the vector says nothing. */
  isUnread?: boolean
}

export interface Embedder {
  /** Names the model that made a vector; vectors of two names are never compared. */
  readonly model: string
  /** How many texts one call of `embed` should pass at most. */
  readonly batch: number
  /** Whether it computes in this process: a service is remote, and each text has its price. */
  readonly isInProcess: boolean
  /** How many queries it works on at once. */
  readonly queries: number
  /** Returns each text as the windows it was cut into. Runs in the background: a query goes first. */
  embed(texts: readonly string[]): Promise<EmbeddedWindow[][]>
  /** Embeds a query of a tenant. */
  query(text: string, tenantId: string): Promise<EmbeddedWindow>
  close(): Promise<void>
}

/** Returns the signs of a vector, a bit each: vectors that point the same way share most of them. */
export function signatureOf(vector: Float32Array): Uint8Array {
  const signature = new Uint8Array(Math.ceil(vector.length / 8))
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) signature[i >> 3]! |= 1 << (i & 7)
  return signature
}

export const bytesOf = (vector: Float32Array | Int8Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)

/** Returns floats as they were stored; copied if they are not aligned to four bytes. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  // Not `slice`: that of a Buffer copies nothing.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4)
}

export const signedOf = (bytes: Uint8Array): Int8Array =>
  new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns the signs of a vector as PostgreSQL writes bits. */
export const bitsOf = (vector: Float32Array): string => {
  const signature = signatureOf(vector)
  let bits = ''
  for (let i = 0; i < vector.length; i++) bits += (signature[i >> 3]! >> (i & 7)) & 1
  return bits
}
