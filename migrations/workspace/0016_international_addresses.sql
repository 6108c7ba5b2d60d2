-- An address whose domain is international has two forms, with the domain in Unicode and in ASCII. `email` is the one that
-- was given, `email_ascii` the same for both; null for all other addresses.
alter table workspace.users add column email_ascii text constraint users_email_ascii unique;
update workspace.users set email_ascii = email where email like '%@%xn--%';

-- As before, and finds a user by either form.
drop function workspace.enrol_user(uuid, text, text, timestamptz);
create function workspace.enrol_user(
  id uuid, email text, password_hash text, now timestamptz, email_ascii text default null)
returns uuid language sql security definer set search_path = '' begin atomic
  insert into workspace.users (id, email, email_ascii, password_hash, created_at, updated_at)
  select enrol_user.id, lower(enrol_user.email), enrol_user.email_ascii, enrol_user.password_hash, enrol_user.now,
    enrol_user.now
  where not exists (select from workspace.users where users.email_ascii = enrol_user.email_ascii)
  on conflict (email) do nothing;
  select users.id from workspace.users
  where users.email = lower(enrol_user.email) or users.email_ascii = enrol_user.email_ascii for key share;
end;
revoke execute on function workspace.enrol_user from public;
grant execute on function workspace.enrol_user to :app_role;
