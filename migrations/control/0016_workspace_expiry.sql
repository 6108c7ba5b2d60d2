-- Workspaces that are deleted at a given time, as those of a test run are.
alter table control.workspaces add column expires_at timestamptz;
create index workspaces_expires_at on control.workspaces (expires_at) where expires_at is not null;
