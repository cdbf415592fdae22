-- Each change of routing has a stamp of its own and names the one before it. A version number that is given out a second
-- time (its first commit was lost with a server, or the data was put back from a copy) is then not taken for the first.
alter table routing_versions add column stamp text not null default '';
alter table routing_versions add column previous text not null default '';
alter table routing_changes add column stamp text not null default '';
alter table routing_changes add column previous text not null default '';
