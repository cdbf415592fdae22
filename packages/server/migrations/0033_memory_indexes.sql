-- Memories to embed are looked for by what they were embedded with, then by tenant: from the memories of one tenant to the next is
-- a single step. Without claimed_until, so that a claim writes no index.
create index memory_recall_left on memory_recall (embedded, tenant_id);
drop index memory_recall_to_embed;
