// Signing in: a key is kept in one of the user's profiles.
import type { Section } from '../command.ts'

const PROFILE = { '--profile <name>': 'the name of the profile (default: `default`)' }

export const signIn: Section = {
  title: 'Sign in',
  groups: { profiles: 'Stored profiles, each with a service and a key' },
  commands: [
    {
      kind: 'local',
      usage: 'login',
      summary: 'Check an API key and store it in a profile; asks for the key, or reads SENSORIUM_KEY or standard input',
      options: {
        '--url <address>': 'the service (default: SENSORIUM_URL or http://localhost:8080)',
        ...PROFILE,
      },
      examples: ['sensorium login', 'sensorium login --url https://sensorium.example --profile work < key.txt'],
      load: () => import('../client/login.ts'),
    },
    {
      kind: 'local',
      usage: 'logout',
      summary: 'Delete the stored key of a profile; the key itself stays valid',
      options: { '--profile <name>': 'the profile to delete (default: the current one)' },
      examples: ['sensorium logout', 'sensorium logout --profile work'],
      load: () => import('../client/logout.ts'),
    },
    {
      kind: 'local',
      usage: 'profiles list',
      summary: 'List the stored profiles',
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
      summary: 'Show which agent or org-admin the key belongs to',
      examples: ['sensorium whoami'],
      load: () => import('../client/whoami.ts'),
    },
  ],
}
