// Where the focus goes when what has it is removed. A browser would leave it nowhere: the keyboard, and what a screen
// reader reads, would begin at the top of the page again.

/** The title of a panel, and the content of a dialog. */
const PLACES = ':scope > header h2[tabindex], :scope > .content'

/** Returns what is still there when this element is gone: the place of the panel or dialog around it. */
export const placeAround = (element: Element | null): HTMLElement | null =>
  element?.closest('.panel, dialog')?.querySelector<HTMLElement>(PLACES) ?? null
