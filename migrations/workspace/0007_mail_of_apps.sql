-- How much mail the hooks of an app may send: `email` is then the app's schema, which no other app ever has.

alter table workspace.mail_budgets drop constraint mail_budgets_purpose_check;
alter table workspace.mail_budgets add constraint mail_budgets_purpose_check
  check (purpose in ('verify_email', 'password_reset', 'email_change', 'otp', 'hook'));
