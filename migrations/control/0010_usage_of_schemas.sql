-- What an app was used is known by its schema: a later app of its id has no part in it. What was added by id before counts
-- for the workspace alone, until it is a day old.

alter table control.usage rename column app to schema;
