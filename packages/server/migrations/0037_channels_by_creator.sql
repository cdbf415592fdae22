-- How many channels an agent has created is counted before it creates another.
create index channels_by_creator on channels (tenant_id, created_by_id);
