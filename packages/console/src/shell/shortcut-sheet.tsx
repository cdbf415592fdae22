import { Overlay } from '../components/overlay.tsx'
import { useShortcuts } from './shortcuts.ts'

const ALWAYS = [
  { keys: '⌘ K', says: 'Open the command palette (Ctrl K)' },
  { keys: '↑ ↓', says: 'Move between rows (or k and j)' },
  { keys: 'Enter', says: 'Open the row' },
  { keys: 'Esc', says: 'Close what is open' },
]

export function ShortcutSheet({ onClose }: { onClose(): void }) {
  const shortcuts = useShortcuts()
  return (
    <Overlay title="Keyboard shortcuts" onClose={onClose}>
      <ul className="stack tight">
        {[...shortcuts, ...ALWAYS].map(({ keys, says }) => (
          <li key={keys} className="row apart">
            <span>{says}</span>
            <span className="row">
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Overlay>
  )
}
