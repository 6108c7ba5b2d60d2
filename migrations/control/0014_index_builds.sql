-- Apps that have an index built beside their writes. If that is interrupted, what is left of it is found here, not by a search
-- through all apps.

create table control.index_builds (
  database text not null references control.tenant_databases (name) on delete cascade,
  schema text not null,
  primary key (database, schema)
);
