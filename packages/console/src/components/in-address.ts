/** The parameters of an address that open a drawer or a dialog. All others are filters. */
export const OPENING: readonly string[] = ['open', 'new', 'do']

/** Whether an address with these parameters has a drawer or a dialog open. */
export const isOpenIn = (search: Readonly<Record<string, unknown>>): boolean => OPENING.some((name) => search[name])
