// /console: serves the files of the console, and its page for every other path below. The console requests its data
// like any other client of the API.
import type { Exchange } from '../http/exchange.ts'
import type { Mount } from '../http/mount.ts'
import { PAGE_HEADERS } from '../http/page.ts'
import { methodNotAllowed, notFound, unavailable } from '../kernel/failure.ts'
import { consoleFolder, readConsole, type ConsoleFile } from './files.ts'

const PREFIX = '/console'

const HEADERS = { ...PAGE_HEADERS, 'cross-origin-opener-policy': 'same-origin' }

/** Returns the encodings that the client accepts; `;q=0` marks one that it does not. */
function accepted({ headers }: Exchange): Set<string> {
  const named = String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
  return new Set(named.filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part)).map((part) => part.split(';')[0]!.trim()))
}

function send(exchange: Exchange, file: ConsoleFile): void {
  const takes = accepted(exchange)
  const { encoding, bytes } = file.forms.find((form) => takes.has(form.encoding)) ?? file.forms.at(-1)!
  const etag = `"${file.etag}-${encoding}"`
  exchange.cacheControl(file.isForever ? 'public, max-age=31536000, immutable' : 'no-cache')
  exchange.header('etag', etag)
  exchange.header('vary', 'accept-encoding')
  exchange.hasResponse = true
  const known = String(exchange.headers['if-none-match'] ?? '').split(',')
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === etag)) return void exchange.open(304, HEADERS).end()
  exchange.header('content-type', file.type)
  exchange.header('content-length', String(bytes.length))
  if (encoding !== 'identity') exchange.header('content-encoding', encoding)
  exchange.open(200, HEADERS).end(exchange.method === 'HEAD' ? undefined : bytes)
}

export function consoleMount(): Mount {
  const folder = consoleFolder()
  const files = folder === null ? null : readConsole(folder)
  return {
    prefix: PREFIX,
    handle(exchange) {
      if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
        throw methodNotAllowed(exchange.method, ['GET', 'HEAD'])
      if (files === null) throw unavailable('The console was not built: run npm run setup')
      const name = exchange.path.slice(PREFIX.length + 1)
      const file = files.get(name)
      // Any other path is a route of the console: its page decides what to show.
      if (file === undefined && name.startsWith('assets/')) throw notFound('file', name)
      send(exchange, file ?? files.get('index.html')!)
    },
  }
}
