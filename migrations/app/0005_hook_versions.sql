-- Of each hook file, the version that loaded last: it runs on while the file does not load. A file that is deleted has none.
create table _hook_versions (
  filename text primary key,
  -- As bytes: a file may have NUL characters.
  source bytea not null,
  sha256 text not null,
  -- The hooks, routes and jobs that it registered, as JSON. As text, which keeps NUL characters.
  registrations text not null,
  -- When this version loaded first.
  loaded_at timestamptz(3) not null
);
