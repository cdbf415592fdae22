// The signals that make up the score of a result, with a bar for each.
import type { SearchSignals } from '@sensorium/client'

const SIGNALS = [
  { name: 'similarity', says: 'How near its meaning is to the question' },
  { name: 'lexical', says: 'How well its words fit' },
  { name: 'confidence', says: 'How certain it is' },
  { name: 'recency', says: 'How lately it was made or changed' },
  { name: 'importance', says: 'How much it matters' },
] as const satisfies readonly { name: keyof SearchSignals; says: string }[]

const percent = (value: number): number => Math.round(Math.min(1, Math.max(0, value)) * 100)

export function Signals({ of }: { of: SearchSignals }) {
  return (
    <ul className="signals" aria-label="Signals">
      {SIGNALS.map(({ name, says }) => (
        <li key={name} title={`${says}: ${of[name].toFixed(3)}`}>
          <span className="name">{name}</span>
          <span className="number">{percent(of[name])}</span>
          <span className="track">
            <i className={`fill ${name}`} style={{ width: `${percent(of[name])}%` }} />
          </span>
        </li>
      ))}
    </ul>
  )
}
