-- How much apps are used, by the hour; API processes add what they counted every few seconds. Kept for a day.

create table control.usage (
  workspace text not null references control.workspaces (id) on delete cascade,
  app text not null,
  hour timestamptz not null,
  requests bigint not null,
  hook_runs bigint not null,
  primary key (workspace, app, hour)
);
create index usage_hour on control.usage (hour);
