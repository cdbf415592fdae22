// The error for an unknown or incomplete command, with what may have been meant.
import { UsageError, usageOf, wordsOf, type Command } from './command.ts'
import { nearest } from './nearest.ts'

/**
 * Returns a sentence with the command that was probably meant, or an empty text if none is near. A command that
 * destroys something is not suggested: whoever runs a suggestion without reading it must not lose anything.
 */
function suggestion(words: readonly string[], commands: readonly Command[]): string {
  const harmless = commands.filter(({ destructive = false }) => !destructive)
  const whole = harmless.map((one) => wordsOf(one).join(' '))
  const first = [...new Set(harmless.map((one) => wordsOf(one)[0]!))]
  const isGroup = first.includes(words[0] ?? '')
  const meant = nearest(words.slice(0, 2).join(' '), whole) ?? (isGroup ? null : nearest(words[0] ?? '', first))
  return meant === null ? '' : ` Did you mean \`sensorium ${meant}\`?`
}

export function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  if (words.length === 0)
    return new UsageError('Name a command first, and options after it. `sensorium help` lists them.', 'a command')
  const near = commands.filter((one) => wordsOf(one)[0] === words[0])
  if (near.length === 0)
    return new UsageError(
      `There is no command ${words.join(' ')}.${suggestion(words, commands)} \`sensorium help\` lists them.`,
      'a command',
    )
  const known = near.map((one) => `  ${usageOf(one)}`).join('\n')
  const meant =
    words.length > 1 ? `There is no command ${words.slice(0, 2).join(' ')}.${suggestion(words, commands)} ` : ''
  return new UsageError(`${meant}Which one?\n${known}`, near.map(usageOf).join(' or '))
}
