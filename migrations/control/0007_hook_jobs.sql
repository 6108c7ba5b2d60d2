-- Which apps have scheduled jobs, so that a server that starts need not load everybody's hooks to find out.

create table control.hook_jobs (
  -- The app's schema, which no later app of its id has.
  schema text primary key,
  workspace text not null references control.workspaces (id) on delete cascade,
  app text not null,
  -- [{ "name", "expression" }], as the code in effect registered them; never empty.
  jobs jsonb not null
);
create index hook_jobs_app on control.hook_jobs (workspace, app);
