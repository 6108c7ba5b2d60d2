-- What hooks read as `$app.env`: set by the app's admins, sealed with the master key.
create table _hook_environment (
  name text primary key,
  sealed bytea not null,
  updated_at timestamptz not null
);
