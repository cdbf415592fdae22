// Turns text into HTML. All text that is not trusted goes through here.

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHtml = (text: unknown): string =>
  String(text).replace(/[&<>"]/g, (character) => ENTITIES[character]!)

/** Renders a description of the contract: `code` between back-ticks, a line break for an empty line. */
export const prose = (text: string): string =>
  escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\n\n/g, '<br>')

/** Names the columns of a table to a screen reader; those who see it need no names. */
export const unseenHead = (...names: readonly string[]): string =>
  `<thead class="unseen"><tr>${names.map((name) => `<th>${name}</th>`).join('')}</tr></thead>`

/** Returns the anchor that GitHub makes from a heading, so that links between guides work in both places. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** Returns the text up to the first full stop, colon or semicolon that ends a word; it then ends with a full stop. */
export function firstSentence(text: string): string {
  const ends = ['. ', '; ', ': '].map((mark) => text.indexOf(mark)).filter((at) => at >= 0)
  return ends.length === 0 ? text : `${text.slice(0, Math.min(...ends))}.`
}
