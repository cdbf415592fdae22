import { TrashIcon } from './icons.tsx'

/** The delete button at the end of a line. Its label tells screen readers what it deletes. */
export function DeleteButton({ says, busy, onClick }: { says: string; busy?: boolean; onClick: () => void }) {
  return (
    <button type="button" className="button bare icon slim" aria-label={says} disabled={busy} onClick={onClick}>
      <TrashIcon />
    </button>
  )
}
