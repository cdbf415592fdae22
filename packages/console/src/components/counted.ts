/** Returns a number with its noun: `1 event`, `2,000 events`, `3 entries`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? noun : plural}`
