-- Policies of all levels in one table, so that a PUT and everything that it clamps below are one transaction.

create table control.policies (
  -- Both null: the system level. Only app null: the workspace level.
  workspace text references control.workspaces (id) on delete cascade,
  app text check (app is null or workspace is not null),
  field text not null,
  spec jsonb not null,
  updated_at timestamptz not null,
  constraint policies_place unique nulls not distinct (workspace, app, field)
);
-- A cascade takes one field from every workspace and app.
create index policies_field on control.policies (field);
