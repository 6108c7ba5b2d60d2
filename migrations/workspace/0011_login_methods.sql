-- A challenge for the second factor remembers the way in that it belongs to, so that switching that off holds for it too.

-- None of those that are open says; they would live for five minutes.
delete from workspace.one_time_tokens where purpose = 'mfa';
alter table workspace.one_time_tokens
  add column method text check (method in ('password', 'otp', 'oauth')),
  add constraint one_time_tokens_method check ((purpose = 'mfa') = (method is not null));
