// Colours of the theme for what is drawn on a canvas, which knows no custom properties.

/** An element that has the colour is asked for it. */
export function colorOf(place: HTMLElement, token: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${token})`
  place.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Tells when the colours are others; returns how to stop. */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  addEventListener('theme', listener)
  system.addEventListener('change', listener)
  return () => {
    removeEventListener('theme', listener)
    system.removeEventListener('change', listener)
  }
}
