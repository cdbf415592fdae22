// Hides credentials in what a client put where none belongs, such as a path: it would be logged and sent back.

const RUN = /[\w.-]+/g
const API_KEY = /ak_live_[A-Za-z0-9]+/g

/** A JSON web token begins like the JSON of its header. */
const isToken = (run: string): boolean => run.startsWith('eyJ') && run.includes('.')

/** Returns the text with `…` for all of each API key and token but its first letters. */
export function hideKeys(text: string): string {
  // Every request has a path, and hardly any a key in it.
  if (!text.includes('ak_live_') && !text.includes('eyJ')) return text
  return text.replace(RUN, (run) => (isToken(run) ? 'eyJ…' : run.replace(API_KEY, 'ak_live_…')))
}
