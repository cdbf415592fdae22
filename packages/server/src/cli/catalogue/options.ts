// Options that the operator's commands share with those of a tenant.
export const PAGE = { '--offset <number>': 'how many to skip', '--limit <number>': 'how many to show' }

/** Completes the explanation of an option that takes a time in the past. */
export const OR_AGO = ', or how long ago: 30m, 12h, 2d'

export const AUDIT_FILTER = {
  '--actor <id>': 'only changes by this agent or org-admin, or by `operator`',
  '--action <name>': 'only this kind of change, such as mintKey',
  '--since <time>': `at or after this time${OR_AGO}`,
  '--until <time>': `at or before this time${OR_AGO}`,
}
