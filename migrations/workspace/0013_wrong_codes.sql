-- How often somebody has sent a wrong code for the address of a mailed one, which is void after five.

alter table workspace.one_time_tokens add column wrong_codes smallint not null default 0;
