// A sample: how the mapping reads it while it is typed, and a button that sends it, signed as the other system would.
import { SensoriumError, type Client, type Published, type Webhook } from '@sensorium/client'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { parseToPassOn } from '../../api/parse-to-pass-on.ts'
import { LOCAL } from '../../api/reachable.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { Badge } from '../../components/badge.tsx'
import { counted } from '../../components/counted.ts'
import { Field, FormProblem } from '../../components/field.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Loading } from '../../components/states.tsx'
import { makeReadSample, type Reading } from './read-sample.ts'
import { SAMPLES } from './samples.ts'

/** Browsers allow signing only on pages that were loaded over TLS or from this machine. */
const canSign = globalThis.crypto?.subtle !== undefined

async function signatureOf(secret: string, text: string): Promise<string> {
  const bytes = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), algorithm, false, ['sign'])
  const made = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)))
  return Array.from(made, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function parsed(text: string): { body: unknown; mistake: string | undefined } {
  try {
    return { body: JSON.parse(text) as unknown, mistake: undefined }
  } catch (error) {
    return { body: undefined, mistake: (error as Error).message }
  }
}

/** Parses lines of `name: value`. Names become lower case, as expressions read them. */
function headersOf(text: string): Record<string, string> {
  const pairs = text
    .split('\n')
    .map((line) => /^\s*([!-9;-~]+)\s*:\s*(.*?)\s*$/.exec(line))
    .filter((match) => match !== null)
  return Object.fromEntries(pairs.map(([, name, value]) => [name!.toLowerCase(), value!]))
}

/** Returns the name of a header that the browser refuses to send, which would look like a service that is away. */
function unsendable(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(headers).find((name) => {
    try {
      new Headers([[name, headers[name]!]])
      return false
    } catch {
      return true
    }
  })
}

interface SignedSample {
  body: unknown
  headers: Readonly<Record<string, string>>
  secret: string
}

async function post(
  client: Client,
  { id, tenant }: Webhook,
  { body, headers, secret }: SignedSample,
): Promise<Published> {
  const signature = await signatureOf(secret, JSON.stringify(body))
  const params = { tenant_slug: tenant, webhook_id: id }
  const options = { headers: { ...headers, 'x-service-signature': signature } }
  try {
    return (await client.call('ingestOwnWebhook', { params, body }, options)) as Published
  } catch (error) {
    // A 401 here refuses the signature, not the operator, whom it would otherwise sign out.
    if (!(error instanceof SensoriumError) || error.status !== 401) throw error
    throw new Error('The signature is not accepted: this is not the secret of this webhook.')
  }
}

export function Sample({ webhook, madeSecret }: { webhook: Webhook; madeSecret: string }) {
  const sample = SAMPLES[webhook.preset ?? 'own']
  const [text, setText] = useState(sample.body)
  const [headerText, setHeaderText] = useState(sample.headers)
  const [secret, setSecret] = useState(madeSecret)
  const { body, mistake } = useMemo(() => parsed(text), [text])
  const headers = useMemo(() => headersOf(headerText), [headerText])
  const refused = unsendable(headers)
  const { data: read } = useQuery({
    queryKey: ['sample reader', webhook.source, webhook.mapping],
    meta: LOCAL,
    queryFn: async () => ({ run: await makeReadSample(webhook.source, webhook.mapping) }),
    staleTime: Infinity,
    structuralSharing: false,
  })
  const reading = useMemo(
    () => (read === undefined || body === undefined ? null : read.run(body, headers)),
    [read, body, headers],
  )
  const send = useAction(async (client) => post(client, webhook, { body: parseToPassOn(text), headers, secret }), {
    quiet: true,
  })
  function submit(event: FormEvent): void {
    event.preventDefault()
    send.mutate()
  }
  return (
    <section className="sample" aria-label="Send a sample">
      <form className="stack" data-scratch onSubmit={submit}>
        <h3>Send a sample</h3>
        <Field label="Body" hint="JSON, as the other system would post it" problem={mistake}>
          <textarea
            className="mono data"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        <Field
          label="Headers"
          hint="Name: value, a line each"
          problem={
            refused === undefined
              ? undefined
              : `${refused} cannot be sent: a header has Latin letters, digits and signs.`
          }
        >
          <textarea
            className="mono"
            spellCheck={false}
            value={headerText}
            onChange={(event) => setHeaderText(event.target.value)}
          />
        </Field>
        <Field
          label="Signing secret"
          hint={
            canSign
              ? 'Stays in this page, which signs the body with it'
              : 'This browser signs only on pages that came over TLS: send it from a shell'
          }
        >
          <input
            className="mono"
            type="password"
            autoComplete="off"
            placeholder="whsec_…"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </Field>
        <FormProblem error={send.error} fields={[]} />
        <div className="row wrap">
          <ActionButton
            type="submit"
            kind="primary"
            busy={!canSign || secret === '' || body === undefined || refused !== undefined || send.isPending}
          >
            Send it
          </ActionButton>
          {send.data === undefined ? null : (
            <span role="status" className="small">
              <Badge tone={send.data.status === 'duplicate' ? 'warn' : 'good'}>{send.data.status}</Badge>{' '}
              <code>{send.data.event_id}</code>, for {counted(send.data.recipients ?? 0, 'mailbox', 'mailboxes')}
            </span>
          )}
        </div>
      </form>
      <ReadAs reading={reading} isWaiting={read === undefined} />
    </section>
  )
}

function ReadAs({ reading, isWaiting }: { reading: Reading | null; isWaiting: boolean }) {
  return (
    <div className="stack" aria-live="polite">
      <h3>How the mapping reads it</h3>
      {isWaiting ? (
        <Loading lines={3} />
      ) : reading === null ? (
        <p className="quiet">Once the body is JSON, the event that is made of it is shown here.</p>
      ) : (
        <>
          <KeyValues
            of={{
              Type: <code>{reading.type}</code>,
              Id: reading.id === null ? 'made of a hash of the body' : <code>{reading.id}</code>,
              Subject: reading.subject === null ? 'none' : <code>{reading.subject}</code>,
            }}
          />
          {reading.problems.map(({ part, why }) => (
            <p key={part} className="sample-problem small">
              <strong>{part}</strong>: {why}
            </p>
          ))}
          <JsonTree value={reading.data} />
        </>
      )}
    </div>
  )
}
