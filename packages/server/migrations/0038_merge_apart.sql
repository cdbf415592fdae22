-- FTS5 merged its segments inside of commits, 64 pages at a time. The service merges them in transactions of their own.
/* sqlite: insert into memory_words (memory_words, rank) values ('automerge', 0) */;
/* sqlite: insert into memory_grams (memory_grams, rank) values ('automerge', 0) */;
