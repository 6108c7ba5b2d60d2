-- Records of `auth` collections belong to users, whom apps may read (`users_public`) and not write.

-- What an app may do to users, and all of it: it makes a user of an email that nobody has, as anybody can by registering.
-- A user who is there already stays as it is, and stays there until the transaction ends. Answers whose email it is.
create function workspace.enrol_user(id uuid, email text, password_hash text, now timestamptz)
returns uuid language sql security definer set search_path = '' begin atomic
  insert into workspace.users (id, email, password_hash, created_at, updated_at)
  values (enrol_user.id, lower(enrol_user.email), enrol_user.password_hash, enrol_user.now, enrol_user.now)
  on conflict (email) do nothing;
  select users.id from workspace.users where users.email = lower(enrol_user.email) for key share;
end;
revoke execute on function workspace.enrol_user from public;
grant execute on function workspace.enrol_user to :app_role;
