import type { Opened } from '../api/opened.ts'
import { Overlay } from './overlay.tsx'
import { Empty, Failed, Loading } from './states.tsx'

/** The drawer of an item that has to be found first, and of one that is not in its list. */
export function Opening({ of, noun, onClose }: { of: Opened<unknown>; noun: string; onClose(): void }) {
  return (
    <Overlay title={`Opening the ${noun}`} kind="drawer" onClose={onClose}>
      {of.isAbsent ? (
        <Empty title={`There is no such ${noun}`}>
          It is gone, the filter leaves it out, or it is not among the newest 1,000 that fit.
        </Empty>
      ) : of.error !== null ? (
        <Failed error={of.error} />
      ) : (
        <Loading />
      )}
    </Overlay>
  )
}
