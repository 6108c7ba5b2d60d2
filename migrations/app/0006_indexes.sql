-- Indexes over several fields: `[{ "fields": ["project", "user"], "unique": true }]`.
alter table _collections add column indexes jsonb not null default '[]';
