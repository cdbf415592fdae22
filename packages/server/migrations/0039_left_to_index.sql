-- Words of older rules, and of memories whose words are not all written: the rules are at their third version now.
drop index memory_recall_old_words;
create index memory_recall_old_words on memory_recall (tenant_id) where word_rules < 3;
-- What is left to embed is looked through in the order of the memories.
create index memory_recall_to_embed on memory_recall (embedded, tenant_id, memory_id);
drop index memory_recall_left;
