// Generates scripts that complete commands, options and the values of options. The scripts contain the whole list of
// commands, so that completion starts no process.
import { argumentsOf, optionsOf, wordsOf, type Command } from './command.ts'
import { quoted } from './terminal/quoted.ts'

interface OptionParts {
  flag: string
  what: string
  takesValue: boolean
  takesFile: boolean
  choices: string[]
}

interface Leaf {
  words: string[]
  summary: string
  options: OptionParts[]
  /** The possible values of the first argument, if it is one of a few words. */
  choices: string[]
}

const choicesOf = (placeholder: string): string[] =>
  /^[a-z_]+(\|[a-z_]+)+$/.test(placeholder) ? placeholder.split('|') : []

function leafOf(command: Command): Leaf {
  const options = Object.entries({ ...optionsOf(command), '--help': 'print how it is used' }).map(([spelled, what]) => {
    const [flag, value = ''] = spelled.split(' ')
    const placeholder = value.slice(1, -1)
    return {
      flag: flag!,
      what,
      takesValue: value !== '',
      takesFile: placeholder === 'file',
      choices: choicesOf(placeholder),
    }
  })
  const first = argumentsOf(command)[0]?.slice(1, -1) ?? ''
  return { words: wordsOf(command), summary: command.summary, options, choices: choicesOf(first) }
}

/** Returns all commands, and the commands by their first word. */
function tree(commands: readonly Command[]): { leaves: Leaf[]; below: Map<string, Leaf[]> } {
  const leaves = commands.map(leafOf)
  return { leaves, below: Map.groupBy(leaves, ({ words }) => words[0]!) }
}

/** Returns the words that may follow a first word. */
const followers = (leaves: readonly Leaf[]): string[] =>
  leaves.flatMap(({ words, choices }) => (words.length > 1 ? [words[1]!] : choices))

const hasFollowers = ([, leaves]: [string, Leaf[]]): boolean => followers(leaves).length > 0

export function bashScript(commands: readonly Command[]): string {
  const { leaves, below } = tree(commands)
  const cases = leaves.flatMap(({ words, options }) => [
    `    ${words.length > 1 ? `"${words.join(' ')}"` : `"${words[0]} "*`})`,
    `      found="${options.map(({ flag }) => flag).join(' ')}"`,
    '      case "$previous" in',
    ...options
      .filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => `        ${flag}) values="${choices.join(' ')}" ;;`),
    '      esac ;;',
  ])
  return [
    '# bash completion for sensorium',
    '_sensorium() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" found="" values=""',
    '  COMPREPLY=()',
    '  case "$COMP_CWORD ${COMP_WORDS[1]}" in',
    `    "1 "*) COMPREPLY=($(compgen -W "${[...below.keys()].join(' ')}" -- "$current")); return ;;`,
    ...[...below]
      .filter(hasFollowers)
      .map(
        ([word, of]) =>
          `    "2 ${word}") COMPREPLY=($(compgen -W "${followers(of).join(' ')}" -- "$current")); return ;;`,
      ),
    '  esac',
    '  case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
    ...cases,
    '  esac',
    '  if [[ -n "$values" ]]; then COMPREPLY=($(compgen -W "$values" -- "$current"))',
    '  elif [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$found" -- "$current"))',
    '  fi',
    '}',
    'complete -o default -F _sensorium sensorium',
  ].join('\n')
}

/** Returns `name:what it is`, as zsh's `_describe` reads it. */
const described = (name: string, what: string): string => quoted(`${name.replaceAll(':', '\\:')}:${what}`)

export function zshScript(commands: readonly Command[]): string {
  const { leaves, below } = tree(commands)
  const named = (of: readonly Leaf[]): string =>
    of
      .flatMap(({ words, summary, choices }) =>
        words.length > 1 ? [described(words[1]!, summary)] : choices.map((choice) => described(choice, summary)),
      )
      .join(' ')
  const firsts = [...below].map(([word, of]) =>
    described(word, of.length > 1 ? of.map(({ words }) => words[1]).join(', ') : of[0]!.summary),
  )
  const cases = leaves.flatMap(({ words, options }) => [
    `    ${words.length > 1 ? `"${words.join(' ')}"` : `"${words[0]} "*`})`,
    `      found=(${options.map(({ flag, what }) => described(flag, what)).join(' ')})`,
    '      case "${words[CURRENT-1]}" in',
    ...options
      .filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => `        ${flag}) choices=(${choices.join(' ')}) ;;`),
    '      esac ;;',
  ])
  return [
    '#compdef sensorium',
    '_sensorium() {',
    '  local -a found choices',
    '  case "$CURRENT ${words[2]}" in',
    `    "2 "*) found=(${firsts.join(' ')}); _describe command found; return ;;`,
    ...[...below]
      .filter(hasFollowers)
      .map(([word, of]) => `    "3 ${word}") found=(${named(of)}); _describe command found; return ;;`),
    '  esac',
    '  case "${words[2]} ${words[3]}" in',
    ...cases,
    '  esac',
    '  if (( $#choices )); then compadd -a choices',
    '  elif [[ "${words[CURRENT]}" == -* ]]; then _describe option found',
    '  else _files',
    '  fi',
    '}',
    '# In a folder of $fpath this file is the function; sourced, it says what it completes.',
    'if [[ "${funcstack[1]}" == "_sensorium" ]]; then _sensorium "$@"; else compdef _sensorium sensorium; fi',
  ].join('\n')
}

export function fishScript(commands: readonly Command[]): string {
  const { leaves, below } = tree(commands)
  const line = (condition: string, rest: string): string => `complete -c sensorium -n ${quoted(condition)} ${rest}`
  return [
    '# fish completion for sensorium',
    'function __sensorium_begins',
    '    set -l words (commandline -opc)',
    '    test (count $words) -gt (count $argv); or return 1',
    '    test "$words[2..(math 1 + (count $argv))]" = "$argv"',
    'end',
    'function __sensorium_is',
    '    test (count (commandline -opc)) -eq (math 1 + (count $argv)); and __sensorium_begins $argv',
    'end',
    'complete -c sensorium -f',
    ...[...below].map(([word, of]) =>
      line(
        '__fish_use_subcommand',
        `-a ${word} -d ${quoted(of.length > 1 ? of.map(({ words }) => words[1]).join(', ') : of[0]!.summary)}`,
      ),
    ),
    ...leaves.flatMap(({ words, summary, choices }) =>
      (words.length > 1 ? [words[1]!] : choices).map((next) =>
        line(`__sensorium_is ${words[0]}`, `-a ${next} -d ${quoted(summary)}`),
      ),
    ),
    ...leaves.flatMap(({ words, options }) =>
      options.map(({ flag, what, takesValue, takesFile, choices }) => {
        const value = !takesValue
          ? ''
          : takesFile
            ? ' -r -F'
            : choices.length > 0
              ? ` -x -a '${choices.join(' ')}'`
              : ' -x'
        return line(`__sensorium_begins ${words.join(' ')}`, `-l ${flag.slice(2)}${value} -d ${quoted(what)}`)
      }),
    ),
  ].join('\n')
}
