// Bulk transfer of memories: exported as they are read, imported a batch at a time.
import type { ImportedMemories, Memory, MemoryCreate, Operations, Relationship } from './contract.ts'
import { askedWait, ConnectionError } from './errors.ts'
import type { Optional } from './given.ts'
import { openBody } from './open.ts'
import { headersOf, isRetryable, LINES as LINES_TYPE, type Call, type CallOptions, type Connection } from './request.ts'
import type { Tokens } from './tokens.ts'
import { backoff, sleep } from './wait.ts'

/** A line of an import: a memory as exported, a memory as created, or a relationship. */
export type ImportLine =
  | (MemoryCreate & Optional<Pick<Memory, 'id' | 'created_at' | 'updated_at'>>)
  | (Pick<Relationship, 'source_memory_id' | 'target_memory_id' | 'relationship_type'> &
      Optional<Pick<Relationship, 'strength' | 'metadata'>>)

export type ExportQuery = Operations['exportMemories']['query']

export interface ImportOptions extends CallOptions {
  /** Called after each batch with the number of lines sent so far and their outcome. */
  progress?: ((lines: number, soFar: ImportedMemories) => void) | undefined
  /** How long each batch is retried while the service does not respond, as it may be restarting; 60,000 by default. */
  patienceMs?: number | undefined
}

/** Lines per request: few enough that a request takes a second or two, and can be sent again. */
const LINES = 200
const CHARACTERS = 2_000_000

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
      const lines = text.split('\n')
      text = lines.pop()!
      for (const line of lines) if (line !== '') yield line
    }
    if (text !== '') yield text
  } finally {
    await reader.cancel().catch(() => {})
  }
}

export function transferCalls(call: Call, connection: Connection, tokens: Tokens) {
  async function* exportLines(
    query: ExportQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<string, void, undefined> {
    const request = { query, headers: headersOf('GET', undefined, options), type: LINES_TYPE, signal: options.signal }
    const { attempts } = connection
    const lines = linesOf(await openBody(connection, tokens, { operation: 'exportMemories', attempts, ...request }))
    try {
      for (;;) {
        const { done, value } = await lines.next().catch((error: unknown) => {
          if (options.signal?.aborted) throw options.signal.reason
          throw new ConnectionError('GET /v1/memories/export: the response broke off', { cause: error })
        })
        if (done) return
        yield value
      }
    } finally {
      await lines.return()
    }
  }

  return {
    /** Yields everything the caller may see, as it is read: memories first, then relationships. */
    async *export(query?: ExportQuery, options?: CallOptions): AsyncGenerator<Memory | Relationship, void, undefined> {
      for await (const line of exportLines(query, options)) yield connection.parse(line) as Memory | Relationship
    },
    /** The same, as the lines of JSON that the service sends, which keep every digit of a number. */
    exportLines,
    /**
     * Imports any number of lines in batches, and waits while the service restarts. When run again after a failure, it
     * skips lines that were already imported.
     */
    async import(
      lines: Iterable<ImportLine | string> | AsyncIterable<ImportLine | string>,
      { progress, patienceMs = 60_000, ...options }: ImportOptions = {},
    ): Promise<ImportedMemories> {
      const all: ImportedMemories = { created: 0, updated: 0, skipped: 0, failed: 0, errors: [] }
      let sent = 0
      let batch: string[] = []
      let characters = 0
      /** All attempts share a key: if the service completed the batch before it went away, it repeats its response. */
      async function sendBatch(): Promise<ImportedMemories> {
        const body = `${batch.join('\n')}\n`
        const keyed = { ...options, idempotencyKey: crypto.randomUUID() }
        const until = Date.now() + patienceMs
        for (let failures = 0; ; failures++) {
          try {
            return await call('importMemories', { body }, keyed)
          } catch (error) {
            if (!isRetryable(error) || Date.now() >= until) throw error
            await sleep(backoff(failures, askedWait(error)), options.signal)
          }
        }
      }
      async function send(): Promise<void> {
        const part = await sendBatch()
        for (const name of ['created', 'updated', 'skipped', 'failed'] as const) all[name] += part[name]
        for (const { line, error } of part.errors) all.errors.push({ line: line + sent, error })
        sent += batch.length
        batch = []
        characters = 0
        progress?.(sent, all)
      }
      for await (const line of lines) {
        const text = typeof line === 'string' ? line : JSON.stringify(line)
        batch.push(text)
        characters += text.length
        if (batch.length >= LINES || characters >= CHARACTERS) await send()
      }
      if (batch.length > 0) await send()
      return all
    },
  }
}

export type TransferCalls = ReturnType<typeof transferCalls>
