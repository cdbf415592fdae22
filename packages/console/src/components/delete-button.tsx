import { ActionButton } from './action-button.tsx'
import { TrashIcon } from './icons.tsx'

/** The delete button at the end of a line. Its label tells screen readers what it deletes. */
export function DeleteButton({ label, busy = false, onClick }: { label: string; busy?: boolean; onClick: () => void }) {
  return (
    <ActionButton kind="bare icon slim" label={label} busy={busy} onClick={onClick}>
      <TrashIcon />
    </ActionButton>
  )
}
