import type { ReactNode } from 'react'

/** Shows names with their values. Pairs whose value is null or undefined are omitted. */
export function KeyValues({ of }: { of: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="key-values">
      {Object.entries(of)
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name} className="pair">
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
