import { wordsOf, type LocalRun } from '../command.ts'
import { helpFor, helpForAll, helpForGroup } from '../help.ts'
import { unknownCommand } from '../unknown-command.ts'

export const run: LocalRun = async ({ args, sections }) => {
  const commands = sections.flatMap((section) => section.commands)
  const shown = commands.filter((command) => args.every((word, i) => wordsOf(command)[i] === word))
  if (shown.length === 0) throw unknownCommand(args, commands)
  const [first] = shown
  const text = args.length === 0 ? helpForAll(sections) : shown.length > 1 ? helpForGroup(shown) : helpFor(first!)
  const json = shown.map(({ usage, summary, options = {}, examples }) => ({ usage, summary, options, examples }))
  return { json: { commands: json }, text }
}
