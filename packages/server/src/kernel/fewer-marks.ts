// Text that is about to be normalised. Normalising sorts the combining marks of a character by insertion: a letter with
// 32,768 of them took two seconds. No writing has more than a few; Unicode's stream-safe format allows thirty.

/** The last two are the half-width voicing signs of Japanese, which become marks. */
const TOO_MANY = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu

/** Returns the text without the marks that follow thirty others. */
export const withFewerMarks = (text: string): string => text.replace(TOO_MANY, '$1')
