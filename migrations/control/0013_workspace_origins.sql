-- The origins whose pages may use the cookies of a workspace: a page that one tenant runs must not act for another's admins.

alter table control.workspaces add column origins text[] not null default '{}';
