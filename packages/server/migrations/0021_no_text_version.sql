-- The vectors of a text go when the text does, in one transaction, and memory_recall.version says which text was embedded: a second
-- count of the texts beside it said nothing more.
alter table memories drop column text_version;
alter table memory_vectors drop column text_version;
