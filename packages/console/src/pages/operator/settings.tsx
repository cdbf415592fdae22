import type { TenantSettings, TenantSettingsUpdate } from '@sensorium/client'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useMemo, useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { KEEPS_OPEN } from '../../components/modal.ts'
import { Confirm } from '../../components/overlay.tsx'
import { changesOf, GROUPS, inTheForm, SETTING_NAMES, textsOf, type SettingTexts } from './setting-texts.ts'

const count = (changes: number): string => (changes === 1 ? 'one change' : `${changes} changes`)

export function SettingsForm({ slug, current }: { slug: string; current: TenantSettings }) {
  const saved = useMemo(() => textsOf(current), [current])
  /** Only the texts that the user typed, so that changes by somebody else are still shown. */
  const [typed, setTyped] = useState<Partial<SettingTexts>>({})
  const texts = { ...saved, ...typed }
  const changes = changesOf(saved, texts)
  const changed = Object.keys(changes).length
  const save = useAction(
    (client, body: TenantSettingsUpdate) => client.call('updateTenantSettings', { params: { slug }, body }),
    { done: 'Saved: it holds on every node within a second', quiet: true },
  )
  const leaving = useBlocker({
    // A dialog that is kept open answers for itself, and so does any that Back closes.
    shouldBlockFn: ({ action, current, next }) =>
      changed > 0 &&
      current.pathname !== next.pathname &&
      document.querySelector(action === 'BACK' ? 'dialog' : `dialog .${KEEPS_OPEN}`) === null,
    enableBeforeUnload: false,
    withResolver: true,
  })
  const queries = useQueryClient()
  function show(now: TenantSettings): void {
    const queryKey = ['getTenantSettings', { params: { slug } }]
    // A response that is on its way may be older than what was saved.
    void queries.cancelQueries({ queryKey }).then(() => {
      queries.setQueryData(queryKey, now)
      setTyped({})
    })
  }
  function undo(): void {
    setTyped({})
    // What was refused is no longer in the form.
    save.reset()
  }
  function submit(event: FormEvent): void {
    event.preventDefault()
    save.mutate(changes, { onSuccess: show })
  }
  return (
    <form className="stack wide" onSubmit={submit}>
      {GROUPS.map(({ title, fields }) => (
        <fieldset key={title} className="settings">
          <legend>{title}</legend>
          {fields.map(({ name, label, hint }) => (
            <Field key={name} label={label} hint={hint} problem={inTheForm(problemOf(save.error, name))}>
              <input
                className={name in changes ? 'mono changed' : 'mono'}
                inputMode={name === 'push_retry_s' || name.startsWith('rate') ? 'text' : 'numeric'}
                placeholder={name.startsWith('quota') ? 'no limit' : 'default'}
                value={texts[name]}
                onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
              />
            </Field>
          ))}
        </fieldset>
      ))}
      <FormProblem error={save.error} fields={SETTING_NAMES} />
      <div className="form-end">
        <span className="grow quiet small">Empty is the default of the installation.</span>
        <ActionButton busy={changed === 0 || save.isPending} onClick={undo}>
          Undo
        </ActionButton>
        <ActionButton type="submit" kind="primary" busy={changed === 0 || save.isPending}>
          {changed === 0 ? 'Save' : `Save ${count(changed)}`}
        </ActionButton>
      </div>
      {leaving.status === 'blocked' ? (
        <Confirm title="Leave without saving?" verb="Leave" danger onConfirm={leaving.proceed} onClose={leaving.reset}>
          You have {count(changed)} that {changed === 1 ? 'is' : 'are'} not saved.
        </Confirm>
      ) : null}
    </form>
  )
}
