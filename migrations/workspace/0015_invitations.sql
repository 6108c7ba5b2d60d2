-- Invitations: tokens that are mailed to addresses without a user.

alter table workspace.one_time_tokens drop constraint one_time_tokens_purpose_check;
alter table workspace.one_time_tokens add constraint one_time_tokens_purpose_check
  check (purpose in ('verify_email', 'password_reset', 'email_change', 'otp', 'invite', 'mfa'));

alter table workspace.mail_budgets drop constraint mail_budgets_purpose_check;
alter table workspace.mail_budgets add constraint mail_budgets_purpose_check
  check (purpose in ('verify_email', 'password_reset', 'password_changed', 'email_change', 'otp', 'invite', 'hook'));
