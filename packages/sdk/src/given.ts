// Values given by a caller, to be merged over defaults.

/** The fields may be left out or be undefined, also for a program that is checked with `exactOptionalPropertyTypes`. */
export type Optional<T> = { [K in keyof T]?: T[K] | undefined }

/** A function of the caller, which may expect more of its arguments: `(error: Error) => …` for an unknown error. */
export type Handler<Args extends unknown[]> = { handle(...args: Args): void }['handle']

/** Returns the fields without the undefined ones: an undefined field means the same as a missing one. */
export const withoutUndefined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
