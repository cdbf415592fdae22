// Colours of the theme for drawing on a canvas, which does not support custom properties.

/** Returns the colour of a token, read from an element that has it. */
export function colorOf(place: HTMLElement, token: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${token})`
  place.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Calls the listener when the colours change. Returns a function that unregisters it. */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  addEventListener('theme', listener)
  system.addEventListener('change', listener)
  return () => {
    removeEventListener('theme', listener)
    system.removeEventListener('change', listener)
  }
}
