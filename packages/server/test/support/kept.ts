// Resources that the test files of a folder share because they are expensive to start: the first file that needs one
// keeps it, and it is closed after the last file (scripts/test/lane.ts).
const kept: (() => Promise<void>)[] = []

export const keep = (close: () => Promise<void>): void => void kept.push(close)

export const isKeeping = (): boolean => kept.length > 0

export async function closeKept(): Promise<void> {
  for (const close of kept.splice(0).reverse()) await close()
}
