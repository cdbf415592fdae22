-- What another process on the same file changed, for the service to hear of. PostgreSQL has NOTIFY for that. Rows are gone
-- after a minute; an id is never given twice.
/* sqlite: create table announcements (id integer primary key autoincrement, process text not null, topic text not null, payload text not null, at bigint not null) */;
