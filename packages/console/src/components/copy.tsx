// Copies a text and shows that it worked. On a page that was not loaded over TLS, scripts have no access to the
// clipboard, so the text is copied in the old way, through a selection.
import { useRef, useState } from 'react'
import { showFailure } from '../shell/toast-store.ts'
import { CheckIcon, CopyIcon } from './icons.tsx'

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  // Inside an open dialog, because elements outside of it cannot be focused.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}

async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  if (!copyBySelection(text)) throw new Error('The browser did not allow copying')
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const timer = useRef(0)
  const press = (): void => {
    copy(text).then(() => {
      setCopied(true)
      clearTimeout(timer.current)
      timer.current = window.setTimeout(() => setCopied(false), 1_500)
    }, showFailure)
  }
  return (
    <button
      type="button"
      className="button bare icon slim"
      aria-label={copied ? 'Copied' : label}
      title={label}
      onClick={(event) => {
        event.stopPropagation()
        press()
      }}
    >
      {copied ? <CheckIcon /> : <CopyIcon />}
    </button>
  )
}

/** An id or a secret, with a button to copy it. */
export function Copyable({ text, label }: { text: string; label?: string }) {
  return (
    <span className="copyable">
      <code className="cut" dir="auto" title={text}>
        {text}
      </code>
      <CopyButton text={text} {...(label === undefined ? {} : { label })} />
    </span>
  )
}

/** Something to paste into a shell. */
export function Snippet({ text }: { text: string }) {
  return (
    <pre className="snippet">
      <code>{text}</code>
      <CopyButton text={text} label="Copy the command" />
    </pre>
  )
}
