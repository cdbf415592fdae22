-- A change of a channel that names the participant who joined or left, so that a node applies it without reading the
-- channel's members. With neither, all of them are read again: so does a node of an older version with every change.
alter table routing_changes add column joined_id text;
alter table routing_changes add column left_id text;
