-- Lists of keys show those that are not revoked. Revoked ones are kept, and however many there are, a list does not read them.
create index api_keys_live on api_keys (tenant_id, owner_id, id) where revoked_at is null;
drop index api_keys_by_owner;
