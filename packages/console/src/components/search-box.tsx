import { useRef } from 'react'
import { useShortcut } from '../shell/shortcuts.ts'
import { SearchIcon } from './icons.tsx'

interface SearchBoxProps {
  label: string
  value: string
  onChange(text: string): void
}

/** A text filter. The key `/` focuses it. */
export function SearchBox({ label, value, onChange }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null)
  useShortcut('/', label, () => input.current?.focus())
  return (
    <div className="search-box">
      <SearchIcon />
      <input
        ref={input}
        className="input"
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
