-- Workspaces share the processor, so each sees what its hooks take of it.

alter table control.usage add column hook_cpu_ms bigint not null default 0;
