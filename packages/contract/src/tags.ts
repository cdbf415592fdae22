// Descriptions of the groups of operations, for the OpenAPI document and the reference.

export const TAGS: Readonly<Record<string, string>> = {
  Authentication: 'Exchange an API key for a token that is valid for one hour. Every other call sends that token.',
  Agents: 'Register agents, change how they receive events, and check the state of their mailboxes.',
  'API keys': 'API keys of an agent, each with the scopes that it needs. The plaintext is shown once.',
  Events: 'Publish CloudEvents, trace where each one was delivered, and find out who would receive an event.',
  Delivery:
    'The mailbox: poll or stream deliveries, acknowledge them or give them back, extend leases, replay dead letters.',
  Interests: 'Which events an agent receives: a type pattern, a filter and a priority.',
  Channels: 'Groups of agents. A feed of a channel delivers matching events to all of its members.',
  Memories: 'What agents remember: create, search by meaning, share, and relate memories.',
  Monitoring: 'The activity of the tenant, live and over time. For org-admins.',
  Operator:
    'For the operator of the installation: tenants, their org-admin keys and usage. Requires the operator token.',
  'External events': 'Events from other systems: signed webhooks, and connectors that receive from a broker.',
}
