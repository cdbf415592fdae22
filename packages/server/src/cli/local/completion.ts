import { UsageError, type LocalRun } from '../command.ts'
import { bashScript, fishScript, zshScript } from '../completion.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }

export const run: LocalRun = async ({ args, sections }) => {
  const shell = args[0]!
  if (!Object.hasOwn(SCRIPTS, shell))
    throw new UsageError(`There is a script for bash, zsh and fish, and none for ${shell}`, 'bash, zsh or fish')
  const script = SCRIPTS[shell as keyof typeof SCRIPTS](sections.flatMap((section) => section.commands))
  return { json: { shell, script }, text: script }
}
