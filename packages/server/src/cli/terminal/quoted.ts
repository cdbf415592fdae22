/** Quotes a text so that a shell takes it as one word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
