-- An app's schema has an owner apart from the role that reads and writes in it: only the owner makes tables, and points them to users.
grant usage on schema workspace to :app_owner_role;
revoke references (id) on workspace.users from :app_role;
grant references (id) on workspace.users to :app_owner_role;

-- Appends an entry for the app one of whose two roles (`a_…`, and `o_…` that owns its schema) is connected.
create or replace function workspace.audit_app(
  id uuid, ts timestamptz, actor text, action text, target text, details jsonb, request_id text, ip text,
  user_agent text
) returns text language sql security definer set search_path = '' begin atomic
  insert into workspace.audit_log (id, ts, actor, action, target, details, app, app_schema, request_id, ip, user_agent)
  select audit_app.id, audit_app.ts, audit_app.actor, audit_app.action, audit_app.target, audit_app.details,
    apps.id, apps.schema, audit_app.request_id, audit_app.ip, audit_app.user_agent
  from workspace.apps
  where apps.schema = 'a_' || substr(session_user::text, 3)
  returning current_database()::text;
end;
grant execute on function workspace.audit_app to :app_owner_role;
