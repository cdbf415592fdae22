// AMQP 1.0 made by hand, byte by byte, for what no library would send.

export const NULL = Buffer.from([0x40])
export const TRUE = Buffer.from([0x41])
export const FALSE = Buffer.from([0x42])
export const LIST = 0xd0
export const MAP = 0xd1
export const ARRAY = 0xf0

export const OPEN = 0x10
export const BEGIN = 0x11
export const ATTACH = 0x12
export const FLOW = 0x13
export const TRANSFER = 0x14
export const DISPOSITION = 0x15
export const DETACH = 0x16

const AMQP_FRAME = 0
export const SASL_FRAME = 1

export const uint32 = (n: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(n)
  return bytes
}

export const uint = (n: number): Buffer => Buffer.concat([Buffer.from([0x70]), uint32(n)])
export const ushort = (n: number): Buffer => Buffer.from([0x60, n >> 8, n & 0xff])
export const string = (text: string): Buffer => Buffer.concat([Buffer.from([0xa1, text.length]), Buffer.from(text)])
export const symbol = (text: string): Buffer => Buffer.concat([Buffer.from([0xa3, text.length]), Buffer.from(text)])
export const binary = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0xb0]), uint32(bytes.length), bytes])

/** A value with the number that says what it is. 0x75 is a section of data, 0x77 of a value, 0x1d an error. */
export const described = (code: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x00, 0x53, code]), value])

/** A list, map or array with lengths of four bytes. */
export const compound = (code: number, count: number, items: Buffer): Buffer =>
  Buffer.concat([Buffer.from([code]), uint32(items.length + 4), uint32(count), items])

export const composite = (code: number, ...fields: Buffer[]): Buffer =>
  described(code, compound(LIST, fields.length, Buffer.concat(fields)))

/** A frame around a performative and its payload. */
export function frame(body: Buffer, { channel = 0, type = AMQP_FRAME } = {}): Buffer {
  const head = Buffer.concat([uint32(body.length + 8), Buffer.from([2, type, channel >> 8, channel & 0xff])])
  return Buffer.concat([head, body])
}
