// Mints a key: the user chooses its scopes and sees it once.
import type { Agent, KeyMint } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useAction } from '../../api/calls.ts'
import type { Scope } from '../../session/session.ts'

const SCOPES: readonly Scope[] = [
  'send',
  'receive',
  'interests:read',
  'interests:write',
  'memory:read',
  'memory:write',
  'channel:read',
  'channel:write',
  'admin',
]
const USUAL: readonly Scope[] = SCOPES.filter((scope) => scope !== 'admin')

export function MintKey({ agent, onClose }: { agent: Agent; onClose(): void }) {
  const [scopes, setScopes] = useState<readonly Scope[]>(USUAL)
  const [expires, setExpires] = useState('')
  const mint = useAction((client, body: KeyMint) => client.keys.mint(agent.id, body), {
    refresh: ['listKeys'],
    quiet: true,
  })

  function submit(event: FormEvent): void {
    event.preventDefault()
    const at = expires === '' ? {} : { expires_at: new Date(expires).toISOString() }
    mint.mutate({ scopes: [...scopes], ...at })
  }

  return (
    <Overlay title={`A key for ${agent.name}`} awaitsSecret={mint.isPending} onClose={onClose}>
      {mint.data ? (
        <ShownOnce secret={mint.data.key} name="the key" onClose={onClose}>
          Copy it now and give it to the agent.
        </ShownOnce>
      ) : (
        <form className="stack wide" onSubmit={submit}>
          <fieldset className="field">
            <legend>What it may do</legend>
            <div className="checks">
              {SCOPES.map((scope) => (
                <label key={scope}>
                  <input
                    type="checkbox"
                    checked={scopes.includes(scope)}
                    onChange={({ target }) =>
                      setScopes(target.checked ? [...scopes, scope] : scopes.filter((other) => other !== scope))
                    }
                  />
                  <code>{scope}</code>
                </label>
              ))}
            </div>
            {problemOf(mint.error, 'scopes') === undefined ? null : (
              <span className="problem" role="alert">
                {problemOf(mint.error, 'scopes')}
              </span>
            )}
          </fieldset>
          <Field label="Expires" hint="Left empty, it does not" problem={problemOf(mint.error, 'expires_at')}>
            <input type="datetime-local" value={expires} onChange={(event) => setExpires(event.target.value)} />
          </Field>
          <FormProblem error={mint.error} fields={['scopes', 'expires_at']} />
          <FormEnd onCancel={onClose} busy={scopes.length === 0} awaitsSecret={mint.isPending}>
            Mint the key
          </FormEnd>
        </form>
      )}
    </Overlay>
  )
}
