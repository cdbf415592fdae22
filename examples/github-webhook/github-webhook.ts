// From GitHub through a channel to agents. The operator registers a webhook with the preset `github`. A channel has two
// feeds: issues that are opened, and pushes to the main branch. Its members are two agents; each receives everything
// that the feeds let through, and nothing else.
//
// Here `postAsGithub` stands in for GitHub: it signs and sends what GitHub would. For a real repository, give GitHub
// the webhook's own address and its secret instead; the rest does not change.
//
// Run it against a service that has an OPERATOR_TOKEN:
//   node examples/github-webhook/github-webhook.ts http://localhost:8080 ak_live_… "$OPERATOR_TOKEN"
import { createHmac, randomUUID } from 'node:crypto'
import { createClient, type Client, type Worker } from '@sensorium/client'

const repository = { id: 1, full_name: 'acme/pumps', html_url: 'https://github.com/acme/pumps', default_branch: 'main' }
const sender = { login: 'hansen', id: 2 }
const issue = { number: 5, title: 'Pump 7 runs hot', html_url: 'https://github.com/acme/pumps/issues/5', user: sender }

/** What GitHub sends, reduced to the fields that matter here. */
const SENT: { event: string; body: Record<string, unknown> }[] = [
  { event: 'ping', body: { zen: 'Keep it logically awesome.', hook_id: 3 } },
  { event: 'issues', body: { action: 'opened', issue, repository, sender } },
  { event: 'issues', body: { action: 'closed', issue, repository, sender } },
  { event: 'push', body: { ref: 'refs/heads/try-things', commits: [], repository, sender } },
  {
    event: 'push',
    body: { ref: 'refs/heads/main', commits: [{ id: 'c0ffee', message: 'Cool it' }], repository, sender },
  },
]

interface Sending {
  url: string
  secret: string
  event: string
  body: Record<string, unknown>
  /** GitHub gives every delivery an id, which a redelivery keeps. */
  deliveryId: string
}

/** Resolves to the status of the response. */
async function postAsGithub({ url, secret, event, body, deliveryId }: Sending): Promise<number> {
  const text = JSON.stringify(body)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': deliveryId,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
    },
    body: text,
  })
  await response.body?.cancel()
  return response.status
}

async function register(url: string, admin: Client, name: string): Promise<{ id: string; client: Client }> {
  const { id } = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
  const { key } = await admin.keys.mint(id, { scopes: ['receive', 'channel:read', 'channel:write'] })
  return { id, client: createClient({ url, apiKey: key }) }
}

export interface Heard {
  type: string
  subject: string
  title: string
}

/** The data of the preset: GitHub's own fields, without repetitions. */
interface GithubData {
  issue?: { title: string }
  commits?: { message: string }[]
}

export interface Outcome {
  /** The status of each post, in the order of SENT. */
  accepted: number[]
  /** The status of the last post, sent again. */
  redelivered: number
  /** The status of a post signed with another secret. */
  forged: number
  /** What each agent received, ordered by type. */
  heard: { triage: Heard[]; release: Heard[] }
}

export async function githubWebhook(
  url: string,
  adminKey: string,
  operatorToken: string,
  tenant = 'default',
): Promise<Outcome> {
  const operator = createClient({ url, token: operatorToken })
  const { webhook, signing_secret: secret } = await operator.call('createWebhook', {
    body: { tenant, preset: 'github' },
  })

  const admin = createClient({ url, apiKey: adminKey })
  const triage = await register(url, admin, 'Triage')
  const release = await register(url, admin, 'Release')
  // The creator of a channel is its first member.
  const { channels } = triage.client
  const { id: channelId } = await channels.create({ name: 'acme/pumps', type: 'private' })
  await channels.addMember(channelId, { participant_type: 'agent', participant_id: release.id })
  await channels.createFeed(channelId, { event_type_glob: 'com.github.issues.opened' })
  await channels.createFeed(channelId, {
    event_type_glob: 'com.github.push.received',
    filter_expression: 'data.ref == "refs/heads/" + data.repository.default_branch',
  })

  const heard: Outcome['heard'] = { triage: [], release: [] }
  const finished = Promise.withResolvers<void>()
  const listen = (client: Client, list: Heard[]): Worker => {
    const worker = client.worker<GithubData>({
      handle({ event }) {
        const title = event.data.issue?.title ?? event.data.commits?.[0]?.message ?? ''
        list.push({ type: event.type, subject: event.subject!, title })
        if (heard.triage.length >= 2 && heard.release.length >= 2) finished.resolve()
      },
    })
    worker.stopped.catch(finished.reject)
    return worker
  }
  const workers = [listen(triage.client, heard.triage), listen(release.client, heard.release)]

  const accepted: number[] = []
  let last: Sending | undefined
  for (const sent of SENT) {
    last = { ...sent, url: webhook.own_url, secret, deliveryId: randomUUID() }
    accepted.push(await postAsGithub(last))
  }
  const redelivered = await postAsGithub(last!)
  const forged = await postAsGithub({ ...last!, secret: 'not the secret of it', deliveryId: randomUUID() })

  await finished.promise
  await Promise.all(workers.map((worker) => worker.stop()))
  await operator.call('deleteWebhook', { params: { id: webhook.id } })
  // Deliveries of one poll are handled concurrently, so they finish in any order.
  for (const list of Object.values(heard)) list.sort((a, b) => a.type.localeCompare(b.type))
  return { accepted, redelivered, forged, heard }
}

if (import.meta.main) {
  const [url, adminKey, operatorToken, tenant] = process.argv.slice(2)
  if (!url || !adminKey || !operatorToken)
    throw new Error('Usage: github-webhook.ts <address of the service> <org-admin key> <operator token> [<tenant>]')
  console.dir(await githubWebhook(url, adminKey, operatorToken, tenant), { depth: 4 })
}
