-- The query of a collection of kind `view`, as it is shown; null for all others.
alter table _collections add column query text;
