-- Each seal knows which row of its kind it is on, counted from the first: so a page of any filter, however deep, is found
-- by looking numbers up instead of walking to it. The workspaces' databases have the same, and numbers for each app.

grant create on schema control to :auditor_role;
set local role :auditor_role;

-- What a log is searched by, copied from it, and the row's numbers: of its action, and of its actor's such rows.
alter table control.audit_seals
  add column action text not null default '',
  add column actor text not null default '',
  add column nth bigint not null default 0,
  add column nth_of_actor bigint not null default 0;

-- Of each action, and of each actor's: how many sealed rows there are, and the number of the last one.
delete from control.audit_totals;
alter table control.audit_totals
  add column last bigint not null,
  drop constraint audit_totals_of,
  add constraint audit_totals_of unique nulls not distinct (app_schema, actor, action);

-- What has been sealed so far, in pieces, as a log can be longer than what a server lends to one sort. A seal whose row is
-- missing keeps its place, without a name.
do $$
declare
  piece constant bigint := 20000;
  after bigint := 0;
  final constant bigint := (select coalesce(max(seq), 0) from control.audit_seals);
begin
  while after < final loop
    insert into control.audit_totals as total (app_schema, action, actor, rows, last)
    select key.app_schema, known.action, key.actor, count(*), count(*)
    from (
      select coalesce(log.action, '') as action, coalesce(log.actor, '') as actor
      from control.audit_seals as seal left join control.audit_log as log using (id)
      where seal.seq > after and seal.seq <= after + piece
    ) as known
    cross join lateral (values ('', null), ('', known.actor)) as key (app_schema, actor)
    group by key.app_schema, known.action, key.actor
    on conflict on constraint audit_totals_of
    do update set rows = total.rows + excluded.rows, last = total.last + excluded.last;
    update control.audit_seals as target
    set action = numbered.action, actor = numbered.actor,
      nth = numbered.nth, nth_of_actor = numbered.nth_of_actor
    from (
      select seal.seq, seal.action, seal.actor,
        (select total.last from control.audit_totals as total
          where total.app_schema = '' and total.actor is null and total.action = seal.action)
          - row_number() over (partition by seal.action order by seal.seq desc) + 1 as nth,
        (select total.last from control.audit_totals as total
          where total.app_schema = '' and total.actor = seal.actor and total.action = seal.action)
          - row_number() over (partition by seal.actor, seal.action order by seal.seq desc) + 1 as nth_of_actor
      from (
        select place.seq, coalesce(log.action, '') as action, coalesce(log.actor, '') as actor
        from control.audit_seals as place left join control.audit_log as log using (id)
        where place.seq > after and place.seq <= after + piece
      ) as seal
    ) as numbered
    where numbered.seq = target.seq;
    after := after + piece;
  end loop;
end
$$;
alter table control.audit_seals
  alter column action drop default,
  alter column actor drop default,
  alter column nth drop default,
  alter column nth_of_actor drop default;

create index audit_seals_action on control.audit_seals (action, seq);
create index audit_seals_actor on control.audit_seals (actor, action, seq);
-- Rows are found by their seals, and those that wait by their ids.
drop index control.audit_log_action, control.audit_log_actor;

-- Appends seals after the last one. Refuses what does not follow it, and what no row waits for.
create or replace function control.audit_seal(first bigint, ids uuid[], hashes bytea[]) returns void
language plpgsql security definer set search_path = '' as $$
declare
  taken bigint;
  sealed bigint;
begin
  update control.audit_head as head set seq = first + cardinality(ids) - 1, hash = hashes[cardinality(ids)]
  where head.seq = first - 1;
  if not found or cardinality(ids) <> cardinality(hashes) then
    raise exception 'these seals do not follow the last one' using errcode = '40001';
  end if;
  delete from control.audit_queue where id = any (ids);
  get diagnostics taken = row_count;
  insert into control.audit_totals as total (app_schema, action, actor, rows, last)
  select key.app_schema, log.action, key.actor, count(*), count(*)
  from control.audit_log as log
  cross join lateral (values ('', null), ('', log.actor)) as key (app_schema, actor)
  where log.id = any (ids)
  group by key.app_schema, log.action, key.actor
  on conflict on constraint audit_totals_of
  do update set rows = total.rows + excluded.rows, last = total.last + excluded.last;
  insert into control.audit_seals (seq, id, hash, action, actor, nth, nth_of_actor)
  select first + given.place - 1, log.id, given.hash, log.action, log.actor,
    -- The last of a kind in here has the kind's last number.
    (select total.last from control.audit_totals as total
      where total.app_schema = '' and total.actor is null and total.action = log.action)
      - row_number() over (partition by log.action order by given.place desc) + 1,
    (select total.last from control.audit_totals as total
      where total.app_schema = '' and total.actor = log.actor and total.action = log.action)
      - row_number() over (partition by log.actor, log.action order by given.place desc) + 1
  from unnest(ids, hashes) with ordinality as given (id, hash, place) join control.audit_log as log using (id);
  get diagnostics sealed = row_count;
  if taken <> cardinality(ids) or sealed <> cardinality(ids) then
    raise exception 'these rows do not wait for a seal' using errcode = '40001';
  end if;
end
$$;

-- Removes sealed rows from the first on, none of them younger than `before`, and leaves a checkpoint.
create or replace function control.audit_prune(through bigint, before timestamptz, proof bytea, at timestamptz)
returns bigint language plpgsql security definer set search_path = '' as $$
declare
  last_hash bytea;
  removed bigint;
begin
  perform from control.audit_head for update;
  select seal.hash into last_hash from control.audit_seals as seal where seal.seq = through;
  if last_hash is null or exists (
    select from control.audit_seals as seal join control.audit_log as log on log.id = seal.id
    where seal.seq <= through and log.ts >= before
  ) then
    raise exception 'only sealed rows that are old enough may be removed' using errcode = '40001';
  end if;
  with unsealed as (
    delete from control.audit_seals as seal where seal.seq <= through
    returning seal.id, seal.action, seal.actor
  ), gone as (
    delete from control.audit_log as log using unsealed where log.id = unsealed.id returning log.id
  ), sums as (
    select key.app_schema, unsealed.action, key.actor, count(*) as rows
    from unsealed
    cross join lateral (values ('', null), ('', unsealed.actor)) as key (app_schema, actor)
    group by key.app_schema, unsealed.action, key.actor
  ), counted as (
    update control.audit_totals as total set rows = total.rows - sums.rows from sums
    where total.app_schema = sums.app_schema and total.action = sums.action
      and total.actor is not distinct from sums.actor
  )
  select count(*) into removed from gone;
  delete from control.audit_totals as total where total.rows <= 0;
  insert into control.audit_checkpoints (seq, hash, removed, created_at, proof)
  values (through, last_hash, removed, at, audit_prune.proof);
  return removed;
end
$$;
set local role none;
revoke create on schema control from :auditor_role;
