-- The second factor: `users.totp_sealed` is the secret, pending until `totp_enabled`.

-- The last time step whose code was used: no code works twice, and none that is older.
alter table workspace.users add column totp_last_step bigint;

create table workspace.recovery_codes (
  user_id uuid not null references workspace.users (id) on delete cascade,
  -- A MAC: without the master key the codes cannot be searched for.
  hash bytea not null,
  primary key (user_id, hash)
);
grant select, insert, delete on workspace.recovery_codes to :workspace_role;
