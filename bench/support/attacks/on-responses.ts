// Attacks with an ordinary key: what waits, and what nobody reads.
import { event, flood, get, interest, memory, type Attack, type CallAsAttacker } from './attack.ts'

const publishLarge = (call: CallAsAttacker): Promise<{ event_id: string }> =>
  call('POST', '/v1/events', JSON.parse(event(`"${'x'.repeat(1_000_000)}"`))) as Promise<{ event_id: string }>

export const ON_RESPONSES: Readonly<Record<string, Attack>> = {
  'pipelined long polls': {
    run: ({ port, token }) => flood(port, 100, () => get('/v1/delivery/poll?wait=20', token).repeat(100)),
  },
  'large lists that nobody reads': {
    async prepare(call) {
      for (let i = 0; i < 30; i++)
        await call('POST', '/v1/memories', JSON.parse(memory('Large', `{"blob":"${'x'.repeat(1_000_000)}"}`)))
    },
    run: ({ port, token }) => flood(port, 8, () => get('/v1/memories?limit=200', token).repeat(40), { read: false }),
  },
  'large deliveries that nobody reads': {
    async prepare(call, { agentId }) {
      await call('POST', `/v1/agents/${agentId}/interests`, interest('attack.x'))
      for (let i = 0; i < 30; i++) await publishLarge(call)
      const polled = (await call('GET', '/v1/delivery/poll?limit=100')) as { deliveries: { id: string }[] }
      const delivery_ids = polled.deliveries.map(({ id }) => id)
      await call('POST', '/v1/delivery/nack', { delivery_ids, dead_letter: true, reason: 'to be listed' })
    },
    run: ({ port, token }) =>
      flood(port, 8, () => get('/v1/delivery/dlq?limit=200', token).repeat(40), { read: false }),
  },
  'responses of just under 1 MiB that nobody reads': {
    async prepare(call, target) {
      target.eventId = (await publishLarge(call)).event_id
    },
    run: ({ port, token, eventId }) => flood(port, 1_000, () => get(`/v1/events/${eventId}`, token), { read: false }),
  },
}
