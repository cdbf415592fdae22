-- What comes in from outside: signed webhooks, and connectors that receive from a broker. Secrets and addresses with a password
-- are sealed; a copy of the store shows none of them.

-- previous_secret holds beside secret until previous_until, so that a provider can be moved to the new one without a gap.
create table webhooks (
  tenant_id text not null,
  id text not null,
  source text not null,
  preset text,
  mapping text not null,
  secret text not null,
  previous_secret text,
  previous_until bigint,
  active integer not null,
  created_at bigint not null,
  primary key (tenant_id, id)
);

create index webhooks_by_id on webhooks (id);

-- url is sealed, shown_url is the same without its user and password. tls_ca is a certificate, which is no secret.
create table connectors (
  tenant_id text not null,
  id text not null,
  source text not null,
  url text not null,
  shown_url text not null,
  address text not null,
  credit integer not null,
  mapping text not null,
  tls_ca text,
  paused integer not null,
  created_at bigint not null,
  primary key (tenant_id, id)
);

create index connectors_by_id on connectors (id);

-- Which node runs a connector, until when unless it says so again, and how it goes. The counts outlive the lease.
create table connector_leases (
  tenant_id text not null,
  connector_id text not null,
  node text not null,
  expires_at bigint not null,
  state text not null,
  last_error text,
  received bigint not null,
  accepted bigint not null,
  duplicates bigint not null,
  released bigint not null,
  rejected bigint not null,
  last_message_at bigint,
  primary key (tenant_id, connector_id)
);
