// Receipts as a chart: a line for each recipient, from the creation of the delivery to its current state, all on one
// time scale.
import type { Matched, Receipt } from '@sensorium/client'
import { useMemo } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { useByHundred } from '../../components/by-hundred.tsx'
import { PrincipalLink } from '../../components/principal-link.tsx'
import { span } from '../../components/span.ts'
import { Time, useTick } from '../../components/time.tsx'

const STATES: Record<Receipt['state'], { tone: Tone | undefined; says: string }> = {
  pending: { tone: undefined, says: 'waiting' },
  leased: { tone: 'cool', says: 'handed out' },
  acknowledged: { tone: 'good', says: 'acknowledged' },
  dead_lettered: { tone: 'bad', says: 'dead letter' },
}

const KINDS: Record<string, string> = {
  interest: 'its interest',
  feed: 'a channel feed',
  test_event: 'a test event',
  recipient: 'it was addressed',
}

const whyOf = (matched: readonly Matched[]): string =>
  [...new Set(matched.map(({ kind }) => KINDS[kind] ?? kind))].join(' and ') || 'unknown'

const endOf = ({ acknowledged_at, dead_lettered_at }: Receipt): string | null => acknowledged_at ?? dead_lettered_at

interface Moment {
  at: number
  says: string
  tone: Tone | 'plain'
}

function momentsOf(receipt: Receipt): Moment[] {
  const { created_at, first_attempt_at, acknowledged_at, dead_lettered_at } = receipt
  const all: (Moment | null)[] = [
    { at: Date.parse(created_at), says: 'delivered to the mailbox', tone: 'plain' },
    first_attempt_at === null ? null : { at: Date.parse(first_attempt_at), says: 'first handed out', tone: 'cool' },
    acknowledged_at === null ? null : { at: Date.parse(acknowledged_at), says: 'acknowledged', tone: 'good' },
    dead_lettered_at === null ? null : { at: Date.parse(dead_lettered_at), says: 'dead-lettered', tone: 'bad' },
  ]
  return all.filter((moment) => moment !== null)
}

function Line({ receipt, from, to }: { receipt: Receipt; from: number; to: number }) {
  const place = (at: number): string => `${to === from ? 0 : Math.min(100, ((at - from) / (to - from)) * 100)}%`
  const moments = momentsOf(receipt)
  const isOver = endOf(receipt) !== null
  const last = isOver ? moments.at(-1)!.at : to
  return (
    <div className="receipt-line" aria-hidden="true">
      <span
        className={isOver ? 'reach' : 'reach goes-on'}
        style={{ left: place(moments[0]!.at), right: `calc(100% - ${place(last)})` }}
      />
      {moments.map(({ at, says, tone }) => (
        <i
          key={says}
          className={tone}
          style={{ left: place(at) }}
          title={`${says}, ${new Date(at).toLocaleString()}`}
        />
      ))}
    </div>
  )
}

function tookOf(receipt: Receipt): string {
  const end = endOf(receipt)
  const ms = (end === null ? Date.now() : Date.parse(end)) - Date.parse(receipt.created_at)
  const took = ms < 1000 && end !== null ? `${ms} ms` : span(ms)
  return end === null ? `for ${took}` : `after ${took}`
}

/**
 * Returns the time from the first delivery to the last end. There may be more than a call has room for as arguments.
 */
function scaleOf(receipts: readonly Receipt[]): { from: number; to: number; isOpen: boolean } {
  let [from, to, isOpen] = [Number.POSITIVE_INFINITY, 0, false]
  for (const receipt of receipts) {
    const end = endOf(receipt)
    from = Math.min(from, Date.parse(receipt.created_at))
    to = Math.max(to, end === null ? 0 : Date.parse(end))
    isOpen ||= end === null
  }
  return { from, to: Math.max(from + 1, to), isOpen }
}

const countsOf = (receipts: readonly Receipt[]): string =>
  Object.entries(STATES)
    .map(([state, { says }]) => ({ says, count: receipts.filter((receipt) => receipt.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ says, count }) => `${count.toLocaleString()} ${says}`)
    .join(', ')

export function Receipts({ receipts }: { receipts: readonly Receipt[] }) {
  const { shown, more } = useByHundred(receipts)
  const nameOf = usePrincipalName(shown.map(({ agent_id }) => agent_id))
  // The line of an open delivery keeps growing, even if the service reports nothing new.
  useTick()
  const scale = useMemo(() => scaleOf(receipts), [receipts])
  const to = scale.isOpen ? Math.max(scale.to, Date.now()) : scale.to
  return (
    <>
      {more === null ? null : <p className="panel-note">{countsOf(receipts)}</p>}
      <ul className="lines receipts">
        {shown.map((receipt) => (
          <li key={receipt.delivery_id}>
            <div className="receipt-who">
              <PrincipalLink id={receipt.agent_id} className="plain cut">
                <strong>{nameOf(receipt.agent_id)}</strong>
              </PrincipalLink>
              <span className="faint small cut" dir="auto">
                by {whyOf(receipt.matched)}
              </span>
            </div>
            <Line receipt={receipt} from={scale.from} to={to} />
            <div className="receipt-state">
              <Badge tone={STATES[receipt.state].tone}>{STATES[receipt.state].says}</Badge>
              <span className="faint small number">
                {tookOf(receipt)}
                {receipt.attempts > 1 ? ` · ${receipt.attempts} attempts` : ''}
              </span>
            </div>
            {receipt.dlq_reason === null ? null : <p className="receipt-reason">{receipt.dlq_reason}</p>}
            {receipt.last_error === null ? null : (
              <p className="receipt-reason">
                The last attempt failed: {receipt.last_error}
                {receipt.next_attempt_at === null ? null : (
                  <>
                    {' · again '}
                    <Time at={receipt.next_attempt_at} />
                  </>
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}
