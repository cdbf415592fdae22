// Asks for a secret: what is typed is not shown.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Interrupted } from '../command.ts'

export function askSecretly(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  process.stderr.write(question)
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
    lines.once('SIGINT', () => {
      reject(new Interrupted('Interrupted.'))
      lines.close()
    })
    lines.once('close', () => {
      process.stderr.write('\n')
      resolve('')
    })
  })
}
