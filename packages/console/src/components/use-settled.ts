import { useEffect, useState } from 'react'

const SETTLED_MS = 300

/** Returns the value once it has not changed for a moment, for requests that depend on what the user types. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
