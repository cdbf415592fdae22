// The lines of an import, split from the pieces in which its body arrives.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf } from '../../../src/memory/transfer/lines.ts'

test('[KEP-8] lines keep their numbers however the bytes are split; a line that is too long is dropped', async () => {
  const text = Buffer.from('{"a":"ü"}\n\n  \r\nsecond\nthis one is too long\nlast')
  for (const size of [1, 2, 3, 7, 100]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      text.subarray(i * size, i * size + size),
    )
    const lines = []
    for await (const line of linesOf(pieces, 10))
      lines.push([line.number, line.bytes?.toString() ?? `${line.size} bytes`])
    assert.deepEqual(lines, [
      [1, '{"a":"ü"}'],
      [4, 'second'],
      [5, '20 bytes'],
      [6, 'last'],
    ])
  }
})
