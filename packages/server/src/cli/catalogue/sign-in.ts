// Signing in: a key is kept in one of the user's profiles.
import type { Section } from '../command.ts'

const PROFILE = { '--profile <name>': 'the name of the profile; `default` where it is left out' }

export const signIn: Section = {
  title: 'Sign in',
  groups: { profiles: 'The services and keys that are kept' },
  commands: [
    {
      kind: 'local',
      usage: 'login',
      summary: 'Check an API key and keep it in a profile; asks for it, or reads SENSORIUM_KEY or standard input',
      options: {
        '--url <address>': 'the service; SENSORIUM_URL or http://localhost:8080 where it is left out',
        ...PROFILE,
      },
      examples: ['sensorium login', 'sensorium login --url https://sensorium.example --profile work < key.txt'],
      load: () => import('../client/login.ts'),
    },
    {
      kind: 'local',
      usage: 'logout',
      summary: 'Forget the key of a profile; the key itself stays valid',
      options: { '--profile <name>': 'the profile to forget; the current one where it is left out' },
      examples: ['sensorium logout', 'sensorium logout --profile work'],
      load: () => import('../client/logout.ts'),
    },
    {
      kind: 'local',
      usage: 'profiles list',
      summary: 'List the profiles that are kept here',
      examples: ['sensorium profiles list'],
      load: () => import('../client/profiles-list.ts'),
    },
    {
      kind: 'local',
      usage: 'profiles use <name>',
      summary: 'Make a profile the current one',
      examples: ['sensorium profiles use work'],
      load: () => import('../client/profiles-use.ts'),
    },
    {
      kind: 'client',
      usage: 'whoami',
      summary: 'Who the key belongs to',
      examples: ['sensorium whoami'],
      load: () => import('../client/whoami.ts'),
    },
  ],
}
