-- Mail that waits to be sent, of every workspace: one place to look after a restart, however many workspaces there are.

create table control.mail_queue (
  -- Version 7, so the order of ids is the order of time.
  id uuid primary key,
  workspace text not null references control.workspaces (id) on delete cascade,
  -- Recipient, template and values, encrypted since they hold tokens.
  sealed bytea not null,
  attempts integer not null default 0,
  -- Moved ahead by whoever is sending it, so that nobody else does, and a crash delays it only.
  next_attempt_at timestamptz not null,
  -- What it holds is of no use afterwards.
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index mail_queue_next_attempt_at on control.mail_queue (next_attempt_at);
create index mail_queue_workspace on control.mail_queue (workspace);
