-- Which memories contradict which, for a search that found both: few of the relationships are of this kind.
create index memory_contradictions on memory_relationships (tenant_id, source_memory_id, target_memory_id) where relationship_type = 'contradicts';
