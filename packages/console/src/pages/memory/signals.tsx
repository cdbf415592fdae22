// The signals that make up the score of a result, with a bar for each.
import type { SearchSignals } from '@sensorium/client'

const SIGNALS = [
  { name: 'similarity', says: 'How near its meaning is to the question' },
  { name: 'feedback', says: 'How near its meaning is to the question and its best answers' },
  { name: 'tokens', says: 'How near its single words are to those of the question' },
  { name: 'lexical', says: 'How well its words fit' },
  { name: 'confidence', says: 'How certain it is' },
  { name: 'recency', says: 'How lately it was made or changed' },
  { name: 'importance', says: 'How much it matters' },
  { name: 'in_passing', says: 'How far it holds its word in passing, which lowers it' },
  { name: 'other_time', says: 'How much it loses because the question names another time' },
  { name: 'contradicted', says: 'How strongly another result contradicts it, which lowers it' },
  { name: 'reranked', says: 'What the rerank service says of it' },
] as const satisfies readonly { name: keyof SearchSignals; says: string }[]

const percent = (value: number): number => Math.round(Math.min(1, Math.max(0, value)) * 100)

export function Signals({ of }: { of: SearchSignals }) {
  return (
    <ul className="signals" aria-label="Signals">
      {SIGNALS.map(({ name, says }) => {
        const value = of[name]
        if (value === undefined) return null
        return (
          <li key={name} title={`${says}: ${value.toFixed(3)}`}>
            <span className="name">{name.replace('_', ' ')}</span>
            <span className="number">{percent(value)}</span>
            <span className="track">
              <i className={`fill ${name}`} style={{ width: `${percent(value)}%` }} />
            </span>
          </li>
        )
      })}
    </ul>
  )
}
