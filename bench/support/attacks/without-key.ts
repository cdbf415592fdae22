// Attacks without a key.
import { flood, get, post, type Attack } from './attack.ts'

/** A request whose body never comes. */
const announced = (): string => post('/v1/auth/token', null, '').replace('Content-Length: 0', 'Content-Length: 100')

export const WITHOUT_KEY: Readonly<Record<string, Attack>> = {
  'CONNECT behind pipelined requests': {
    run: ({ port }) => flood(port, 12, () => `${get('/healthz').repeat(500)}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`),
  },
  'a Content-Type of spaces': {
    run: ({ port }) =>
      flood(
        port,
        8,
        () => post('/v1/auth/token', null, '{}', '', `application/json; charset=${' '.repeat(15_000)}a b`),
        { every: 100 },
      ),
  },
  'bodies that never come': {
    run: ({ port }) => flood(port, 3_000, announced),
  },
  'bodies that never come, from many addresses': {
    run: ({ port }) => flood(port, 6_000, announced, { addresses: 24 }),
  },
  'health checks whose bodies trickle, from many addresses': {
    run: ({ port }) =>
      flood(port, 576, () => get('/healthz', undefined, 'Content-Length: 100000\r\n'), {
        every: 1_000,
        again: 'x',
        addresses: 9,
      }),
  },
  'webhooks of a megabyte, wrongly signed': {
    run({ port }) {
      const sent = post('/ingest/w/default', null, 'x'.repeat(1_000_000), `X-Service-Signature: ${'0'.repeat(64)}\r\n`)
      return flood(port, 4, () => sent, { every: 200 })
    },
  },
  'wrong keys': {
    run: ({ port }) =>
      flood(port, 8, () => post('/v1/auth/token', null, `{"api_key":"ak_live_${'x'.repeat(32)}"}`).repeat(5), {
        every: 50,
      }),
  },
  'escaped paths and two Hosts': {
    run: ({ port }) =>
      flood(port, 16, () => (get('/%6detrics') + 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n').repeat(10), {
        every: 100,
      }),
  },
}
