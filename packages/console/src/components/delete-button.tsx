import { TrashIcon } from './icons.tsx'

/** The delete button at the end of a line. Its label tells screen readers what it deletes. */
export function DeleteButton({ label, busy, onClick }: { label: string; busy?: boolean; onClick: () => void }) {
  return (
    <button type="button" className="button bare icon slim" aria-label={label} disabled={busy} onClick={onClick}>
      <TrashIcon />
    </button>
  )
}
