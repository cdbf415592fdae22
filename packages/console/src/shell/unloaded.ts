// A part of the console that could not be loaded: the service is away, or was upgraded and has other files now.
const TEXT =
  'This part of the console could not be loaded. If the service is away, it is loaded when the service is back. ' +
  'If the service was upgraded, reload the tab and sign in again.'

/**
 * Gives the error of a failed import a text for the user. The router knows the browser's own text, and would reload the
 * tab at once, which forgets the key.
 */
export function listenForUnloaded(): void {
  addEventListener('vite:preloadError', ({ payload }) => {
    payload.message = TEXT
  })
}
