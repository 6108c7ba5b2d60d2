-- Notices to users whose password was changed have a budget, too.

alter table workspace.mail_budgets drop constraint mail_budgets_purpose_check;
alter table workspace.mail_budgets add constraint mail_budgets_purpose_check
  check (purpose in ('verify_email', 'password_reset', 'password_changed', 'email_change', 'otp', 'hook'));
