-- How much mail an address may still be sent on request: nobody can fill somebody else's mailbox.

create table workspace.mail_budgets (
  -- Lower case, whether or not anybody has it.
  email text not null,
  purpose text not null check (purpose in ('verify_email', 'password_reset', 'email_change', 'otp')),
  -- When all that was spent has come back; from then on the row says nothing.
  full_at timestamptz not null,
  primary key (email, purpose)
);
create index mail_budgets_full_at on workspace.mail_budgets (full_at);
grant select, insert, update, delete on workspace.mail_budgets to :workspace_role;
