-- Earlier events about the same subject, for deliveries that are enriched in full. The beginning of the subject is enough to find
-- them by, and keeps an entry of the index small however long a subject is.
create index events_by_subject on events (tenant_id, substr(subject, 1, 100), received_at) where subject is not null and purged_at is null;
