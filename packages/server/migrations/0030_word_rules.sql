-- By which rules the words of a memory were cut and stemmed. Those of older rules are cut again in the background, and are found by
-- the words they have until then.
alter table memory_recall add column word_rules integer not null default 0;
create index memory_recall_old_words on memory_recall (tenant_id) where word_rules < 1;
/* sqlite: create trigger memory_recall_reworded after update of word_rules on memory_recall begin insert into memory_changes (tenant_id, memory_id) values (new.tenant_id, new.memory_id); end */;
