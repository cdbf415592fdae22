// How far a score can be trusted: the share of relevant results among those with about the same score, as numbers and
// as a reliability diagram.

export interface Judged {
  score: number
  relevant: boolean
}

export interface Bin {
  /** The mean score, and the share of relevant results. */
  score: number
  share: number
  results: number
}

const BINS = 10

export function binsOf(judged: readonly Judged[]): Bin[] {
  const bins = Array.from({ length: BINS }, (): Judged[] => [])
  for (const one of judged) bins[Math.min(BINS - 1, Math.floor(one.score * BINS))]!.push(one)
  const mean = (of: Judged[], value: (one: Judged) => number): number =>
    of.reduce((sum, one) => sum + value(one), 0) / of.length
  return bins
    .filter((bin) => bin.length > 0)
    .map((bin) => ({
      score: mean(bin, ({ score }) => score),
      share: mean(bin, ({ relevant }) => Number(relevant)),
      results: bin.length,
    }))
}

/** Returns how far scores and shares lie apart, on average over the results. */
export function calibrationError(judged: readonly Judged[]): number {
  const off = binsOf(judged).reduce((sum, { score, share, results }) => sum + results * Math.abs(score - share), 0)
  return judged.length > 0 ? off / judged.length : 0
}

const COLOURS = ['#2563eb', '#d97706', '#059669', '#7c3aed']
const SIDE = 320
const LEFT = 56
const TOP = 24

/** Draws all sets in one picture, on white, so that it is readable on a dark page too. */
export function drawReliability(sets: Readonly<Record<string, readonly Judged[]>>): string {
  const x = (value: number): string => (LEFT + value * SIDE).toFixed(1)
  const y = (value: number): string => (TOP + (1 - value) * SIDE).toFixed(1)
  const parts: string[] = []
  for (let tenth = 0; tenth <= 10; tenth += 2) {
    const value = tenth / 10
    parts.push(
      `<path d="M${x(value)} ${y(0)}V${y(1)}M${x(0)} ${y(value)}H${x(1)}" stroke="#e5e7eb"/>`,
      `<text x="${x(value)}" y="${TOP + SIDE + 18}" text-anchor="middle">${value}</text>`,
      `<text x="${LEFT - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value}</text>`,
    )
  }
  parts.push(`<path d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}" stroke="#9ca3af" stroke-dasharray="5 4"/>`)
  Object.entries(sets).forEach(([name, judged], i) => {
    const colour = COLOURS[i % COLOURS.length]!
    const bins = binsOf(judged)
    const line = bins.map(({ score, share }) => `${x(score)} ${y(share)}`).join('L')
    parts.push(`<path d="M${line}" fill="none" stroke="${colour}" stroke-width="2"/>`)
    for (const { score, share, results } of bins)
      parts.push(
        `<circle cx="${x(score)}" cy="${y(share)}" r="${(2 + Math.log10(results)).toFixed(1)}" fill="${colour}"><title>${name}: ${results} results scored ${score.toFixed(2)}, ${(100 * share).toFixed(0)} % were relevant</title></circle>`,
      )
    parts.push(
      `<text x="${LEFT + 12}" y="${TOP + 20 + 18 * i}" fill="${colour}">${name}, ${judged.length} results</text>`,
    )
  })
  const width = LEFT + SIDE + 24
  const height = TOP + SIDE + 48
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="#374151" role="img" aria-label="Reliability diagram: scores on one axis, the share of relevant results on the other">
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join('\n')}
<text x="${LEFT + SIDE / 2}" y="${height - 8}" text-anchor="middle">score</text>
<text transform="translate(14 ${TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">share of relevant results</text>
</svg>
`
}
