import { TrashIcon } from './icons.tsx'

/** At the end of a line: what it deletes is said to those who do not see it. */
export function DeleteButton({ says, busy, onClick }: { says: string; busy?: boolean; onClick: () => void }) {
  return (
    <button type="button" className="button bare icon slim" aria-label={says} disabled={busy} onClick={onClick}>
      <TrashIcon />
    </button>
  )
}
