// The sign-in form: an API key, or the operator's token.
import { ConnectionError, SensoriumError } from '@sensorium/client'
import { useEffect, useState, type FormEvent } from 'react'
import { ActionButton } from '../components/action-button.tsx'
import { Mark } from '../components/icons.tsx'
import { Field } from '../components/field.tsx'
import { Segments } from '../components/segments.tsx'
import { Snippet } from '../components/copy.tsx'
import { signInAsOperator, signInWithKey, type Session } from './session.ts'

type Mode = 'key' | 'operator'

const MODES = [
  { value: 'key', label: 'API key' },
  { value: 'operator', label: 'Operator' },
] as const

/** What a header can carry. The browser refuses to send any other token, which looks like a service that is away. */
const SENDABLE = /^[\x21-\x7e\xa1-\xff]*$/

function problemOf(error: unknown, mode: Mode): string {
  if (error instanceof ConnectionError) return 'The service does not answer. Is it running?'
  if (!(error instanceof SensoriumError)) return 'Something unexpected went wrong; the browser’s console has it.'
  if (error.status === 404 && mode === 'operator') return 'This service has no operator API: OPERATOR_TOKEN is not set.'
  if (error.status === 401)
    return mode === 'key'
      ? 'This key is not valid: it is unknown, revoked or expired, or its agent is inactive.'
      : 'This is not the operator token of this service.'
  if (error.code === 'validation_failed') return 'A key is ak_live_ and 32 letters or digits.'
  return error.message
}

export function SignIn({ notice, onSignIn }: { notice: string | null; onSignIn(session: Session): void }) {
  const [mode, setMode] = useState<Mode>('key')
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState<string | null>(notice)
  const [busy, setBusy] = useState(false)
  // That of the page before names a memory or an agent.
  useEffect(() => {
    document.title = 'Sensorium'
  }, [])

  /** A key is no operator token, and what was wrong with one says nothing of the other. */
  function change(next: Mode): void {
    setMode(next)
    setSecret('')
    setProblem(null)
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const given = secret.trim()
    if (mode === 'operator' && !SENDABLE.test(given)) {
      setProblem('A token has Latin letters, digits and signs, and no spaces.')
      return
    }
    setBusy(true)
    setProblem(null)
    try {
      onSignIn(await (mode === 'key' ? signInWithKey(given) : signInAsOperator(given)))
    } catch (error) {
      if (!(error instanceof SensoriumError || error instanceof ConnectionError)) console.error(error)
      setProblem(problemOf(error, mode))
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1 className="brand">
          <Mark /> Sensorium
        </h1>
        <div className="row apart">
          <span className="quiet">Sign in with</span>
          <Segments<Mode> label="Sign in with" value={mode} options={MODES} onChange={change} />
        </div>
        <Field label={mode === 'key' ? 'API key' : 'Operator token'} problem={problem ?? undefined}>
          <input
            className="mono"
            type="password"
            name="key"
            autoComplete="current-password"
            placeholder={mode === 'key' ? 'ak_live_…' : 'OPERATOR_TOKEN'}
            required
            autoFocus
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </Field>
        <ActionButton type="submit" kind="primary" busy={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </ActionButton>
        <p className="quiet small">
          The key is kept in this tab alone and is not stored: after a reload, sign in again.
        </p>
        {mode === 'key' ? (
          <div className="stack tight">
            <span className="quiet small">No key at hand? Make an org-admin key on the machine of the service:</span>
            <Snippet text="npx sensorium admin-key create default" />
          </div>
        ) : null}
        <a className="link small" href="/docs">
          Documentation
        </a>
      </form>
    </main>
  )
}
