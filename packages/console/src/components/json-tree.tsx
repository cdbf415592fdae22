// JSON as a tree that folds. Deep or long values start folded, and only open ones are in the page.
import { useState } from 'react'
import { ExactNumber } from '../api/exact-numbers.ts'
import { FoldIcon } from './icons.tsx'
import './json-tree.css'

const OPEN_DEPTH = 2
const OPEN_MEMBERS = 24
/** How much of a long list or text is shown at a time. */
const MEMBERS = 200
const CHARACTERS = 2_000

const isHolder = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber)

/** Names and values are isolated: right-to-left text would reorder what stands around it. */
function Name({ of }: { of: string }) {
  return (
    <span className="name">
      <bdi>{of}</bdi>:{' '}
    </span>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [whole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className="value">{String(value)}</span>
  const isLong = value.length > CHARACTERS && !whole
  return (
    <span className="string">
      <bdi>{JSON.stringify(isLong ? value.slice(0, CHARACTERS) : value)}</bdi>
      {isLong ? (
        <button type="button" className="faint" onClick={() => setWhole(true)}>
          … {(value.length - CHARACTERS).toLocaleString()} more characters
        </button>
      ) : null}
    </span>
  )
}

function Branch({ name, value, depth }: { name: string | null; value: object; depth: number }) {
  const entries = Array.isArray(value)
    ? value.map((item, index) => [String(index), item] as const)
    : Object.entries(value)
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= OPEN_MEMBERS)
  const [shown, setShown] = useState(MEMBERS)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <FoldIcon />
        <span>
          {name === null ? null : <Name of={name} />}
          {isOpen ? open : `${open}…${close}`}
          <span className="faint"> {entries.length}</span>
        </span>
      </button>
      {isOpen ? (
        <>
          <ul>
            {entries.slice(0, shown).map(([key, item]) => (
              <Node key={key} name={key} value={item} depth={depth + 1} />
            ))}
            {entries.length > shown ? (
              <li>
                <button type="button" className="faint" onClick={() => setShown(shown + MEMBERS)}>
                  … {entries.length - shown} more
                </button>
              </li>
            ) : null}
          </ul>
          {close}
        </>
      ) : null}
    </>
  )
}

function Node({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  if (isHolder(value) && Object.keys(value).length > 0)
    return (
      <li>
        <Branch name={name} value={value} depth={depth} />
      </li>
    )
  return (
    <li>
      <Name of={name} />
      {isHolder(value) ? <span className="faint">{Array.isArray(value) ? '[]' : '{}'}</span> : <Leaf value={value} />}
    </li>
  )
}

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="json">
      {isHolder(value) ? <Branch name={null} value={value} depth={0} /> : <Leaf value={value} />}
    </div>
  )
}
