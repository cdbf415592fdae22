// The commands as data: help and examples of each, the response to a wrong line, completion, and what is loaded.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { UsageError, optionsOf, wordsOf } from '../../src/cli/command.ts'
import { commands, sections } from '../../src/cli/commands.ts'
import { bashScript, fishScript, zshScript } from '../../src/cli/completion.ts'
import { helpFor, helpForAll } from '../../src/cli/help.ts'
import { parse } from '../../src/cli/program.ts'
import type { Screen } from '../../src/cli/terminal/screen.ts'
import { widthOf } from '../../src/cli/terminal/width.ts'
import { bash } from '../support/process.ts'

const NARROW: Screen = { columns: 80, colours: false, now: () => 0 }

/** The words of an example as a shell would split them, without the command itself. */
function wordsOfExample(example: string): string[] {
  const line = example.split(/(?:^|[ (])sensorium (?=[a-z])/)[1]!.split(/ [|<>]|\)$/)[0]!
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
}

for (const command of commands) {
  const name = wordsOf(command).join(' ')
  test(`[CLI-5] help of ${name} fits 80 columns, and its examples are command lines of it`, async () => {
    const help = helpFor(command, NARROW)
    assert.ok(help.includes(`Usage: sensorium ${name}`))
    for (const option of Object.keys(optionsOf(command))) assert.ok(help.includes(option), option)
    const [text, examples] = help.split(/\nExamples?\n/)
    for (const line of text!.split('\n')) assert.ok(widthOf(line) <= 80, line)
    assert.ok(examples!.includes('$ '))
    for (const example of command.examples) assert.equal(parse(wordsOfExample(example), commands).command, command)
    if (command.kind !== 'service') assert.equal(typeof (await command.load()).run, 'function')
  })
}

test('[CLI-5] [CLI-7] help of listen and poll says that looking without --ack uses up attempts', () => {
  for (const name of ['listen', 'poll']) {
    const help = helpFor(commands.find(({ usage }) => usage === name)!, NARROW)
    assert.match(help.replaceAll(/\s+/g, ' '), /--ack .*without it .*counts as an attempt/)
  }
})

test('[CLI-5] help shows every first word within 80 columns', () => {
  const help = helpForAll(sections, NARROW)
  for (const command of commands) assert.match(help, new RegExp(`^  ${wordsOf(command)[0]}( |$)`, 'm'))
  for (const line of help.split('\n')) assert.ok(widthOf(line) <= 80, line)
})

test('[CLI-4] on a narrow terminal explanations stand below what they explain', () => {
  for (const line of helpForAll(sections, { ...NARROW, columns: 40 }).split('\n'))
    assert.ok(widthOf(line) <= 40 || !line.startsWith('    '), line)
})

test('[CLI-5] a wrong line is answered with the nearest right one', () => {
  const met: [string, RegExp][] = [
    ['lisen', /Did you mean `sensorium listen`\?/],
    ['agent list', /Did you mean `sensorium agents list`\?/],
    ['agents lst', /There is no command agents lst\. Did you mean `sensorium agents list`\?[^]*Which one\?/],
    ['publish t --subjct x', /There is no option --subjct\. Did you mean --subject\?\nUsage: sensorium publish/],
    ['trace', /^Usage: sensorium trace <event-id>\nMissing required argument/],
    ['poll --limit', /^Usage: sensorium poll/],
    ['relate a b c', /^Usage: sensorium relate <from-id> <to-id>/],
  ]
  for (const [line, message] of met)
    assert.throws(
      () => parse(line.split(' '), commands),
      (error) => error instanceof UsageError && message.test(error.message),
      line,
    )
})

test('[CLI-30] a far command is not suggested, nor one that destroys something; those of its group are listed', () => {
  for (const line of ['memories prmotion x', 'memories forgt x', 'dlq discrd', 'keys revke x', 'restor x'])
    assert.throws(
      () => parse(line.split(' '), commands),
      (error) => error instanceof UsageError && !error.message.includes('Did you mean'),
      line,
    )
  assert.throws(() => parse(['memories', 'forgt', 'x'], commands), /Which one\?[^]*sensorium memories forget <id>/)
})

test('[CLI-5] options, flags and repeated arguments are told apart; values may begin with a dash', () => {
  const { input } = parse(['nack', 'a', 'b', '--dead-letter', '--reason', '-1', '--retry-after=5'], commands)
  assert.deepEqual(input.args, ['a', 'b'])
  assert.deepEqual(input.options, { reason: '-1', 'retry-after': '5' })
  assert.deepEqual([...input.flags], ['dead-letter'])
})

/** The completions that bash offers for a line that ends with the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const script = `${bashScript(commands)}
COMP_WORDS=(sensorium ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_sensorium; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { code, stdout, stderr } = await bash(script)
  assert.deepEqual([code, stderr], [0, ''])
  return stdout.split('\n').filter((line) => line !== '')
}

test('[CLI-6] bash completes commands, subcommands, options and their values', async () => {
  assert.deepEqual(await offered('p'), ['profiles', 'publish', 'poll'])
  assert.deepEqual(await offered('dlq', ''), ['list', 'show', 'replay', 'discard'])
  assert.deepEqual(await offered('completion', ''), ['bash', 'zsh', 'fish'])
  assert.deepEqual(await offered('agents', 'register', 'x', '--m'), ['--mode'])
  assert.deepEqual(await offered('agents', 'register', 'x', '--mode', ''), ['poll', 'push', 'sse'])
  assert.deepEqual(await offered('publish', 'x', '--s'), ['--subject', '--source'])
})

test('[CLI-6] zsh and fish know every command and option', () => {
  const zsh = zshScript(commands)
  const fish = fishScript(commands)
  for (const command of commands) {
    const words = wordsOf(command)
    assert.ok(zsh.includes(words.length > 1 ? `"${words.join(' ')}")` : `"${words[0]} "*)`), words.join(' '))
    for (const option of Object.keys(optionsOf(command))) {
      const [flag] = option.split(' ')
      assert.ok(fish.includes(`'__sensorium_begins ${words.join(' ')}' -l ${flag!.slice(2)} `), `${words} ${flag}`)
    }
  }
  assert.match(fish, /agents register' -l mode -x -a 'poll push sse' -d /)
  for (const script of [zsh, fish]) assert.equal(script.split("'").length % 2, 1, 'quotes come in pairs')
})

const SRC = path.resolve(import.meta.dirname, '../../src')

/** All modules that a file loads before it runs: its imports and theirs, without types and without `import()`. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const text = readFileSync(path.join(SRC, file), 'utf8')
  for (const [, names, to] of text.matchAll(/^(?:import|export) (?!type )([^']*?)from '([^']+)'/gm)) {
    if (/^\{(\s*type [^,}]+,?)+\s*\}\s*$/.test(names!)) continue
    if (to!.startsWith('.')) loadedBy(path.normalize(path.join(path.dirname(file), to!)), seen)
    else seen.add(to!)
  }
  return seen
}

const startsWith = (loaded: Set<string>, ...parts: string[]): string[] =>
  [...loaded].filter((file) => parts.some((part) => file.startsWith(part)))

test('[CLI-8] the command line and its help load neither store nor client', () => {
  for (const file of ['cli/main.ts', 'cli/program.ts', ...globSync('cli/local/*.ts', { cwd: SRC })])
    assert.deepEqual(
      startsWith(loadedBy(file), 'store/', 'operations/', '@sensorium/', 'cli/client/', 'cli/operator/'),
      [],
    )
})

test('[CLI-8] commands over HTTP load no store, and those of the operator no client', () => {
  const over = globSync('cli/client/**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('/mcp.ts'))
  const operators = globSync('cli/operator/*.ts', { cwd: SRC })
  assert.ok(over.length > 30 && operators.length > 15)
  for (const file of over)
    assert.deepEqual(startsWith(loadedBy(file), 'store/', 'operations/', 'config', '@sensorium/contract'), [], file)
  for (const file of operators) assert.deepEqual(startsWith(loadedBy(file), '@sensorium/client'), [], file)
  assert.ok(loadedBy('cli/client/support/invocation.ts').has('@sensorium/client'))
  assert.ok(startsWith(loadedBy('cli/operator/invocation.ts'), 'store/').length > 0)
})
