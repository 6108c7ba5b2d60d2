-- Operators see which workspace spends the mail that all of them share. Mail is the workspace's, so its row has no schema.

alter table control.usage add column mails bigint not null default 0;
