// Text into HTML: everything that is not ours to trust goes through here.

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHtml = (text: unknown): string =>
  String(text).replace(/[&<>"]/g, (character) => ENTITIES[character]!)

/** The descriptions of the contract: `code` between back-ticks, a paragraph after an empty line. */
export const prose = (text: string): string =>
  escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\n\n/g, '<br>')

/** An anchor as GitHub makes it of a heading, so that links between guides work in both places. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** Up to the first full stop, colon or semicolon that ends a word; the last two become a full stop. */
export function firstSentence(text: string): string {
  const ends = ['. ', '; ', ': '].map((mark) => text.indexOf(mark)).filter((at) => at >= 0)
  return ends.length === 0 ? text : `${text.slice(0, Math.min(...ends))}.`
}
