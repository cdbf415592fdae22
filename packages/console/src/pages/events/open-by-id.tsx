import { useState, type FormEvent } from 'react'
import { SearchIcon } from '../../components/icons.tsx'

/** Opens an event by an id pasted from a log. */
export function OpenById({ onOpen }: { onOpen(id: string): void }) {
  const [id, setId] = useState('')
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (id.trim() !== '') onOpen(id.trim())
  }
  return (
    <form className="search-box" onSubmit={submit}>
      <SearchIcon />
      <input
        className="input mono"
        aria-label="Open an event by its id"
        placeholder="Open by id"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </form>
  )
}
