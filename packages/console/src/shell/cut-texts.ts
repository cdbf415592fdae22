// The tooltip of a text that is cut off.

/** Those that were given here, and not by the page. A row of a table shows another text after a while. */
const given = new WeakMap<HTMLElement, string>()

/** Gives a cell or line that is cut off a tooltip with the whole text once the mouse is over it. */
export function listenForCutTexts(): void {
  addEventListener('mouseover', ({ target }) => {
    const line = target instanceof Element ? target.closest<HTMLElement>('.cell, .cut') : null
    if (line === null || line.title !== (given.get(line) ?? '')) return
    line.title = line.scrollWidth > line.clientWidth ? line.innerText : ''
    given.set(line, line.title)
  })
}
