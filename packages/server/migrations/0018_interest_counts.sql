-- How many interests an agent has, so that its bound costs the same whatever their number.
create table interest_counts (
  tenant_id text not null,
  agent_id text not null,
  interests bigint not null,
  primary key (tenant_id, agent_id)
);

insert into interest_counts (tenant_id, agent_id, interests)
  select tenant_id, agent_id, count(*) from interests group by tenant_id, agent_id;
