// What the files of a folder share because it is dear to start: the first that needs it keeps it, and it is closed after
// the last of them (scripts/test/lane.ts).
const kept: (() => Promise<void>)[] = []

export const keep = (close: () => Promise<void>): void => void kept.push(close)

export const isKeeping = (): boolean => kept.length > 0

export async function closeKept(): Promise<void> {
  for (const close of kept.splice(0).reverse()) await close()
}
