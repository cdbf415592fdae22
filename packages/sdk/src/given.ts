// What a caller gave, beside values that stand for what it left out.

/** Without what is undefined, which says as little as a field that is not there. */
export const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
