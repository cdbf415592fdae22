// The theme: light, dark, or that of the system. This choice is the only thing the console keeps in storage.
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'sensorium-theme'

export function currentTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return THEMES.find((theme) => theme === kept) ?? 'system'
  } catch {
    return 'system' // storage is forbidden here
  }
}

export function applyTheme(theme: Theme = currentTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // the choice then holds for this page only
  }
  // Charts are redrawn in the new colours.
  dispatchEvent(new Event('theme'))
}
