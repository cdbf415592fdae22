// Variables of the environment that were probably meant to be a setting.
import { editDistance } from './edit-distance.ts'

export interface Misspelt {
  name: string
  meant: string
}

/** The warning about such a variable. */
export const saysMisspelt = ({ name, meant }: Misspelt): string =>
  `${name} is not a setting and has no effect. Did you mean ${meant}?`

/**
 * Finds names that differ from a setting by one letter. An environment is full of names of others, such as `POST` and
 * the `…_PORT` of every Kubernetes service, so both must begin with the same word and `_`, and the setting must be
 * unset.
 */
export function misspelt(env: Readonly<Record<string, string | undefined>>, settings: ReadonlySet<string>): Misspelt[] {
  const unset = [...settings].filter((setting) => setting.includes('_') && !env[setting])
  return Object.keys(env)
    .filter((name) => env[name] && !settings.has(name))
    .flatMap((name) => {
      const word = name.slice(0, name.indexOf('_') + 1)
      const meant =
        word === '' ? undefined : unset.find((known) => known.startsWith(word) && editDistance(name, known) === 1)
      return meant === undefined ? [] : [{ name, meant }]
    })
}
