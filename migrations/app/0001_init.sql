-- An app's schema. Runs as the app's own role with only its schema in the search_path, so names stand alone here.

create table _collections (
  -- Every relation here, indexes included, has a name that no collection can have.
  id text primary key,
  kind text not null,
  fields jsonb not null,
  -- Grows with every change of the definition.
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table _access_rules (
  collection text not null references _collections (id) on delete cascade,
  action text not null check (action in ('list', 'get', 'create', 'update', 'delete')),
  template text not null check (template in ('any', 'auth', 'admin', 'filter')),
  filter text check ((filter is not null) = (template = 'filter')),
  updated_at timestamptz not null,
  primary key (collection, action)
);
