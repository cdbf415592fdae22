// Everything that is keyed with the master secret. Each purpose has a key of its own (HKDF-SHA256), so that one use
// reveals nothing about another and no purpose can be confused with another.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

export interface Secrets {
  /** The key that signs access tokens. */
  tokenKey: Uint8Array
  /** The keyed hash under which an API key is stored and looked up. */
  hashApiKey(key: string): string
  /** Encrypts a text that must be read back later; `context` binds the result to the place it is kept in. */
  seal(plain: string, context: string): string
  open(sealed: string, context: string): string
  /** Recognises this master secret without revealing it. */
  fingerprint: string
}

const derive = (master: string, purpose: string, length = 32): Buffer =>
  Buffer.from(hkdfSync('sha256', master, 'sensorium', purpose, length))

export function makeSecrets(master: string): Secrets {
  // A KeyObject: bytes would be made into a key for each hash, which takes 28 of 32 µs.
  const apiKeys = createSecretKey(derive(master, 'api-keys'))
  const sealing = derive(master, 'sealing')
  return {
    tokenKey: derive(master, 'tokens'),
    hashApiKey: (key) => createHmac('sha256', apiKeys).update(key).digest('hex'),
    fingerprint: derive(master, 'fingerprint', 16).toString('hex'),
    // AES-256-GCM: version, 12 bytes of nonce, 16 of tag, the ciphertext; base64.
    seal(plain, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce)
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return 'v1.' + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
    },
    open(sealed, context) {
      if (!sealed.startsWith('v1.')) throw new Error('sealed with an unknown version')
      const bytes = Buffer.from(sealed.slice(3), 'base64')
      // With the length given, a tag cut short is rejected: it would be easier to guess.
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}

const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** `length` letters and digits, each equally likely (bytes past the last full run of 62 are thrown away). */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) if (byte < 248 && text.length < length) text += BASE62[byte % 62]
  }
  return text
}

/** Compares in constant time, whatever the lengths. */
export function sameSecret(a: string, b: string): boolean {
  const key = randomBytes(32)
  const digest = (text: string): Buffer => createHmac('sha256', key).update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
