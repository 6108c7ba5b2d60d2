-- What is mailed to end-users and works once, and the second step of a login.

create table workspace.one_time_tokens (
  id uuid primary key,
  purpose text not null check (purpose in ('verify_email', 'password_reset', 'email_change', 'otp', 'mfa')),
  -- Lower case: the address that it was made for, whether or not anybody has it.
  email text not null,
  -- Null where the address was nobody's.
  user_id uuid references workspace.users (id) on delete cascade,
  -- SHA-256 of a random token; of a short code a MAC, which cannot be searched for without the master key.
  hash bytea not null,
  -- The only app that the login is for.
  app text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When it was used, or replaced by a later one.
  used_at timestamptz
);
create index one_time_tokens_hash on workspace.one_time_tokens (hash);
create index one_time_tokens_email on workspace.one_time_tokens (email, purpose) where used_at is null;
create index one_time_tokens_user on workspace.one_time_tokens (user_id) where user_id is not null;
create index one_time_tokens_expires_at on workspace.one_time_tokens (expires_at);
grant select, insert, update, delete on workspace.one_time_tokens to :workspace_role;
