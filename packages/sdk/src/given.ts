// Values given by a caller, to be merged over defaults.

/** Returns the fields without the undefined ones: an undefined field means the same as a missing one. */
export const withoutUndefined = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
