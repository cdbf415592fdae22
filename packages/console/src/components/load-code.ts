// Code of the console that is loaded when it is first needed.
const UNLOADED =
  'This part of the console could not be loaded. If the service is away, it is loaded when the service is back. ' +
  'If the service was upgraded, reload the tab and sign in again.'
const { origin } = new URL(import.meta.url)

let attempts = 0

/**
 * Returns the module that `load` imports. Chromium 150 and older never ask again for a file that they could not load,
 * so the next attempt asks for it by another address. The tab is not reloaded, because that forgets the key.
 */
export async function loadCode<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load().catch((error: Error) => {
      // Browsers that name the file name it last.
      const at = error.message.indexOf(`${origin}/`)
      if (at === -1) throw error
      return import(/* @vite-ignore */ `${error.message.slice(at)}?attempt=${++attempts}`) as Promise<M>
    })
  } catch (error) {
    throw new Error(UNLOADED, { cause: error })
  }
}
