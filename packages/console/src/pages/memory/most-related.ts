/** The most relationships that the service returns at once. A test compares it with the contract. */
export const MOST_RELATED = 1_000

/** Says how many relationships a response has: `1,000+` if there may be more. */
export const countOfRelated = (count: number): string => count.toLocaleString() + (count < MOST_RELATED ? '' : '+')
