import { useEffect, useState } from 'react'

/** What is typed, once nobody has typed for a moment: a search by meaning is not free. */
export function useSettled(text: string, ms = 250): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return settled
}
