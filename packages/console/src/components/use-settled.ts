import { useEffect, useState } from 'react'

const SETTLED_MS = 300

/** The last value that stood still for a moment: for what is asked of the service while somebody types. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
