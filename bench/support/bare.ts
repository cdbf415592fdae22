// The bare route that everything is compared with: Fastify with its defaults, a JSON body in, a small JSON body out,
// nothing stored.
import { fastify } from 'fastify'

const app = fastify()
app.post('/v1/events', async (request, reply) =>
  reply.code(202).send({ event_id: (request.body as { id: string }).id, status: 'accepted' }),
)
app.get('/v1/agents/:id', async (request) => ({
  id: (request.params as { id: string }).id,
  tenant_id: 'ten_01hv3k8z9q4m7t2x5c6w8r0s1d',
  name: 'bench',
  description: null,
  status: 'active',
  delivery_mode: 'poll',
  client_type: 'other',
  team_id: null,
  created_at: '2030-01-01T00:00:00.000Z',
  updated_at: '2030-01-01T00:00:00.000Z',
}))
const address = await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`bare listens on ${address}`)
process.on('SIGTERM', () => process.exit(0))
