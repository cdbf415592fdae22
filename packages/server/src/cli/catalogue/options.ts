// Options that the operator's commands share with those of a tenant.
export const PAGE = { '--offset <number>': 'how many to skip', '--limit <number>': 'how many to show' }

export const AUDIT_FILTER = {
  '--actor <id>': 'only changes by this agent or org-admin, or by `operator`',
  '--action <name>': 'only this kind of change, such as mintKey',
  '--since <time>': 'at or after this time',
  '--until <time>': 'at or before this time',
}
