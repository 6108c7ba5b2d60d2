-- Seals on the audit log of the system scope, and an owner for it that nobody is. The workspaces' databases have the
-- same tables and functions.

alter table control.audit_log add column user_agent text;

-- Rows that wait for their seal. Rows get here by the trigger below, in the transaction that appends them, so whatever
-- is committed is in here or sealed: no row can slip by because its transaction took long.
create table control.audit_queue (id uuid primary key);

-- One a row of the log, in the order of sealing. Each is a keyed hash of its row and of the seal before it; the key
-- is the server's, and is not in the database.
create table control.audit_seals (
  seq bigint primary key check (seq > 0),
  id uuid not null constraint audit_seals_id unique,
  hash bytea not null
);

-- The last seal. Whoever seals holds this row, so that several processes take turns.
create table control.audit_head (
  one boolean primary key default true check (one),
  seq bigint not null,
  hash bytea not null
);
insert into control.audit_head (seq, hash) values (0, '');

-- What retention has removed: seals up to seq, of which the last was hash. The proof is a keyed hash of all this and
-- of the proof before it.
create table control.audit_checkpoints (
  seq bigint primary key,
  hash bytea not null,
  removed bigint not null,
  created_at timestamptz not null,
  proof bytea not null
);

-- How many sealed rows there are, so that no list has to count: by app, action and actor, and by app and action.
create table control.audit_totals (
  -- Empty for what is not an app's.
  app_schema text not null,
  action text not null,
  -- Null: of all actors.
  actor text,
  rows bigint not null,
  constraint audit_totals_of unique nulls not distinct (actor, action, app_schema)
);

drop index control.audit_log_actor;
create index audit_log_action on control.audit_log (action, id desc);
create index audit_log_actor on control.audit_log (actor, action, id desc);
insert into control.audit_queue select id from control.audit_log;

create function control.audit_enqueue() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into control.audit_queue (id) select added.id from added;
  return null;
end
$$;
create trigger audit_log_enqueue after insert on control.audit_log referencing new table as added
  for each statement execute function control.audit_enqueue();

-- Waits for its turn and answers the last seal; the turn ends with the transaction.
create function control.audit_begin(out seq bigint, out hash bytea)
language plpgsql security definer set search_path = '' as $$
begin
  select head.seq, head.hash into seq, hash from control.audit_head as head for update;
end
$$;

-- Appends seals after the last one. Refuses what does not follow it, and what no row waits for.
create function control.audit_seal(first bigint, ids uuid[], hashes bytea[]) returns void
language plpgsql security definer set search_path = '' as $$
declare
  taken bigint;
begin
  update control.audit_head as head set seq = first + cardinality(ids) - 1, hash = hashes[cardinality(ids)]
  where head.seq = first - 1;
  if not found or cardinality(ids) <> cardinality(hashes) then
    raise exception 'these seals do not follow the last one' using errcode = '40001';
  end if;
  delete from control.audit_queue where id = any (ids);
  get diagnostics taken = row_count;
  if taken <> cardinality(ids) then
    raise exception 'these rows do not wait for a seal' using errcode = '40001';
  end if;
  insert into control.audit_seals (seq, id, hash)
  select first + sealed.place - 1, sealed.id, sealed.hash
  from unnest(ids, hashes) with ordinality as sealed (id, hash, place);
  insert into control.audit_totals as total (app_schema, action, actor, rows)
  select '', action, actor, count(*) from control.audit_log where id = any (ids)
  group by grouping sets ((1, 2, 3), (1, 2))
  on conflict on constraint audit_totals_of do update set rows = total.rows + excluded.rows;
end
$$;

-- Removes sealed rows from the first on, none of them younger than `before`, and leaves a checkpoint.
create function control.audit_prune(through bigint, before timestamptz, proof bytea, at timestamptz) returns bigint
language plpgsql security definer set search_path = '' as $$
declare
  last bytea;
  removed bigint;
begin
  perform from control.audit_head for update;
  select seal.hash into last from control.audit_seals as seal where seal.seq = through;
  if last is null or exists (
    select from control.audit_seals as seal join control.audit_log as log on log.id = seal.id
    where seal.seq <= through and log.ts >= before
  ) then
    raise exception 'only sealed rows that are old enough may be removed' using errcode = '40001';
  end if;
  with unsealed as (
    delete from control.audit_seals as seal where seal.seq <= through returning seal.id
  ), gone as (
    delete from control.audit_log as log using unsealed where log.id = unsealed.id
    returning '' as app_schema, log.action, log.actor
  ), sums as (
    select gone.app_schema, gone.action, gone.actor, count(*) as rows from gone
    group by grouping sets ((1, 2, 3), (1, 2))
  ), counted as (
    update control.audit_totals as total set rows = total.rows - sums.rows from sums
    where total.app_schema = sums.app_schema and total.action = sums.action
      and total.actor is not distinct from sums.actor
  )
  select coalesce(sum(sums.rows) filter (where sums.actor is null), 0) into removed from sums;
  delete from control.audit_totals as total where total.rows <= 0;
  insert into control.audit_checkpoints (seq, hash, removed, created_at, proof)
  values (through, last, removed, at, audit_prune.proof);
  return removed;
end
$$;

-- From here on these are the auditor's. All others append; a later migration of them takes its role.
grant usage, create on schema control to :auditor_role;
alter table control.audit_log owner to :auditor_role;
alter table control.audit_queue owner to :auditor_role;
alter table control.audit_seals owner to :auditor_role;
alter table control.audit_head owner to :auditor_role;
alter table control.audit_checkpoints owner to :auditor_role;
alter table control.audit_totals owner to :auditor_role;
alter function control.audit_enqueue() owner to :auditor_role;
alter function control.audit_begin() owner to :auditor_role;
alter function control.audit_seal(bigint, uuid[], bytea[]) owner to :auditor_role;
alter function control.audit_prune(bigint, timestamptz, bytea, timestamptz) owner to :auditor_role;
revoke create on schema control from :auditor_role;
set local role :auditor_role;
revoke execute on function control.audit_enqueue() from public;
revoke execute on function control.audit_begin() from public;
revoke execute on function control.audit_seal(bigint, uuid[], bytea[]) from public;
revoke execute on function control.audit_prune(bigint, timestamptz, bytea, timestamptz) from public;
grant select, insert on control.audit_log to session_user;
grant select on control.audit_queue, control.audit_seals, control.audit_head, control.audit_checkpoints, control.audit_totals
  to session_user;
grant execute on function control.audit_begin, control.audit_seal, control.audit_prune to session_user;
set local role none;
