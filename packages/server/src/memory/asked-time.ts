// The time that a query names, if it names one: "last May", "two weeks ago", "yesterday", "in 2024". In UTC. Pure.
import { DAY_MS } from '../kernel/clock.ts'

/** In milliseconds; `to` is exclusive. */
export interface AskedTime {
  from: number
  to: number
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ')
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const VAGUE_COUNTS: Readonly<Record<string, number>> = { a: 1, an: 1, couple: 2, few: 3 }
type Unit = 'day' | 'week' | 'month' | 'year'
const UNIT_DAYS: Record<Unit, number> = { day: 1, week: 7, month: 30.44, year: 365.25 }

const AGO = new RegExp(
  `\\b(\\d{1,3}|${NUMBERS.join('|')}|an?|(?:a )?(?:couple|few)(?: of)?) (day|week|month|year)s? ago\\b`,
)
const RELATIVE = /\b(last|this) (week|month|year)\b/
const IN_MONTH = new RegExp(`\\b(last|this|in|during|since|of) (${MONTHS.join('|')})(?:,? (\\d{4}))?\\b`)
const MONTH_OF_YEAR = new RegExp(`\\b(${MONTHS.join('|')}),? (\\d{4})\\b`)
const IN_YEAR = /\b(?:in|during|of) (\d{4})\b/
const ON_WEEKDAY = new RegExp(`\\b(?:last|on) (${WEEKDAYS.join('|')})\\b`)

const monthOf = (year: number, month: number): AskedTime => ({
  from: Date.UTC(year, month, 1),
  to: Date.UTC(year, month + 1, 1),
})
const yearOf = (year: number): AskedTime => ({ from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) })

function countOf(text: string): number {
  const word = text.replace(/^a (?=couple|few)/, '').replace(/ of$/, '')
  return VAGUE_COUNTS[word] ?? (NUMBERS.includes(word) ? NUMBERS.indexOf(word) : Number(word))
}

/** Returns a range around the time `count` units ago: half a unit each way, as far as a person who says so may err. */
function ago(count: number, unit: Unit, today: number): AskedTime {
  const days = UNIT_DAYS[unit]
  const middle = today + DAY_MS / 2 - count * days * DAY_MS
  return { from: middle - (days * DAY_MS) / 2, to: middle + (days * DAY_MS) / 2 }
}

/** Returns the present week, month or year, or the one before it. */
function calendar(which: string, unit: string, today: number): AskedTime {
  const date = new Date(today)
  const back = which === 'last' ? 1 : 0
  if (unit === 'year') return yearOf(date.getUTCFullYear() - back)
  if (unit === 'month') return monthOf(date.getUTCFullYear(), date.getUTCMonth() - back)
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY_MS - back * 7 * DAY_MS
  return { from: monday, to: monday + 7 * DAY_MS }
}

/** Returns the latest month of this name that has begun, or with `isOver` the latest that has ended. */
function latestMonth(month: number, isOver: boolean, now: number): AskedTime {
  const year = new Date(now).getUTCFullYear()
  const here = monthOf(year, month)
  return (isOver ? here.to : here.from) <= now ? here : monthOf(year - 1, month)
}

export function askedTime(query: string, now: number): AskedTime | null {
  const text = query.slice(0, 1_000).toLowerCase()
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const passed = AGO.exec(text)
  if (passed) return ago(countOf(passed[1]!), passed[2] as Unit, today)
  if (/\byesterday\b/.test(text)) return { from: today - DAY_MS, to: today }
  if (/\btoday\b/.test(text)) return { from: today, to: today + DAY_MS }
  const named = MONTH_OF_YEAR.exec(text)
  if (named) return monthOf(Number(named[2]), MONTHS.indexOf(named[1]!))
  const relative = RELATIVE.exec(text)
  if (relative) return calendar(relative[1]!, relative[2]!, today)
  const month = IN_MONTH.exec(text)
  if (month) {
    const found = latestMonth(MONTHS.indexOf(month[2]!), month[1] === 'last', now)
    return month[1] === 'since' ? { from: found.from, to: Infinity } : found
  }
  const year = IN_YEAR.exec(text)
  if (year) return yearOf(Number(year[1]))
  const weekday = ON_WEEKDAY.exec(text)
  if (!weekday) return null
  const back = (new Date(today).getUTCDay() - WEEKDAYS.indexOf(weekday[1]!) + 7) % 7 || 7
  return { from: today - back * DAY_MS, to: today - (back - 1) * DAY_MS }
}
