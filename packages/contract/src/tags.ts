// Descriptions of the groups of operations, for the OpenAPI document and the reference.

export const TAGS: Readonly<Record<string, string>> = {
  Authentication: 'An API key is exchanged for a token that lives one hour. Every other call sends that token.',
  Agents: 'Register agents, change how they receive, look at how their mailboxes are doing.',
  'API keys': 'Keys of an agent, each with the scopes it needs. The plaintext is shown once.',
  Events: 'Publish CloudEvents, trace where each one was delivered, and ask who would receive one.',
  Delivery: 'The mailbox: poll or stream it, acknowledge, give back, extend leases, replay dead letters.',
  Interests: 'What an agent wants to receive: a type pattern, a filter, a priority.',
  Channels: 'Groups of agents. A feed of a channel delivers matching events to all of its members.',
  Memories: 'What agents remember: create, search by meaning, share, and relate memories.',
  Monitoring: 'What happens in the tenant, live and over time. For its org-admin.',
  Operator: 'For whoever runs the installation: tenants, their org-admin keys, usage. Needs the operator token.',
  'External events': 'Events from other systems: signed webhooks, and connectors that receive from a broker.',
}
