// What an embedder is, whoever computes: the built-in model in its thread, or a service that speaks OpenAI's interface.

/**
 * One window of a text: its vector of length 1, and 64 signed bytes for each token that carries meaning (none from a
 * service).
 */
export interface Embedded {
  vector: Float32Array
  tokens: Int8Array
  /** Of a query: the word that each of these tokens belongs to. */
  words?: readonly string[]
}

export interface Embedder {
  /** Names the model that made a vector; vectors of two names are never compared. */
  readonly model: string
  /** How many texts one call of `embed` should bring at most. */
  readonly batch: number
  /** Whether it computes in this process: a service is far away, and each text has its price. */
  readonly isInProcess: boolean
  /** How many queries it works on at once. */
  readonly queries: number
  /** Each text as the windows it was cut into. In the background: a query goes first. */
  embed(texts: readonly string[]): Promise<Embedded[][]>
  query(text: string): Promise<Embedded>
  close(): Promise<void>
}

/** The signs of a vector, a bit each: vectors that point the same way share most of them. */
export function signatureOf(vector: Float32Array): Uint8Array {
  const signature = new Uint8Array(Math.ceil(vector.length / 8))
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) signature[i >> 3]! |= 1 << (i & 7)
  return signature
}

export const bytesOf = (vector: Float32Array | Int8Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)

/** Floats as they were stored; copied where they do not lie on a boundary of four bytes. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  // A Buffer's own `slice` copies nothing.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4)
}

export const signedOf = (bytes: Uint8Array): Int8Array =>
  new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The signs as PostgreSQL writes bits. */
export const bitsOf = (vector: Float32Array): string => {
  const signature = signatureOf(vector)
  let bits = ''
  for (let i = 0; i < vector.length; i++) bits += (signature[i >> 3]! >> (i & 7)) & 1
  return bits
}
