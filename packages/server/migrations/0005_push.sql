-- Pushing: the secrets that pushes are signed with, and finding the agents that are pushed to.

-- Each rotation adds one; the older ones sign until valid_until, the newest has none. Sealed: they must be read back to sign.
create table push_secrets (
  tenant_id text not null,
  agent_id text not null,
  number integer not null,
  sealed text not null,
  valid_until bigint,
  created_at bigint not null,
  primary key (tenant_id, agent_id, number)
);

-- A wake-up names mailboxes by id alone; this finds which of them are pushed to, and the background scan walks along it.
create index agents_pushed on agents (id) where delivery_mode = 'push';
