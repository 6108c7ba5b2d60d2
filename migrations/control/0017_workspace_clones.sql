-- Workspaces that were cloned from others. What a clone was made from is kept as it was: a database that nothing uses (state
-- `template`), and what the control database says of a workspace.
alter table control.tenant_databases drop constraint tenant_databases_state_check,
  add constraint tenant_databases_state_check
    check (state in ('creating', 'spare', 'assigned', 'template', 'dropping'));

create table control.workspace_templates (
  database text primary key references control.tenant_databases (name) on delete cascade,
  origins text[] not null,
  -- [{ "app", "field", "spec" }]; app is null at the workspace's level.
  policies jsonb not null
);

alter table control.workspaces
  -- The id of the workspace that was cloned, which may be another's by now.
  add column source text,
  add column template text constraint workspaces_template unique references control.workspace_templates (database);
