// A browser presses a button again whenever the Enter that is held repeats, and again the one that has the focus then.

/** Lets a held Enter press one button once. A held Space needs nothing: it presses when it is released. */
export function listenForHeldEnter(): void {
  addEventListener('keydown', (event) => {
    if (event.repeat && event.key === 'Enter' && event.target instanceof HTMLButtonElement) event.preventDefault()
  })
}
