-- Each seal knows which row of its kind it is on, counted from the first: so a page of any filter, however deep, is found
-- by looking numbers up instead of walking to it. See the control database.

grant create on schema workspace to :auditor_role;
set local role :auditor_role;

-- What a log is searched by, copied from it, and the row's numbers: of its action, and of its actor's such rows; in the
-- whole log, and in its app.
alter table workspace.audit_seals
  add column app_schema text,
  add column action text not null default '',
  add column actor text not null default '',
  add column nth bigint not null default 0,
  add column nth_of_actor bigint not null default 0,
  add column nth_in_app bigint,
  add column nth_of_actor_in_app bigint;

-- Of each action, and of each actor's: how many sealed rows there are, and the number of the last one.
-- With an empty app_schema, of the whole log, otherwise of an app.
delete from workspace.audit_totals;
alter table workspace.audit_totals
  add column last bigint not null,
  drop constraint audit_totals_of,
  add constraint audit_totals_of unique nulls not distinct (app_schema, actor, action);

-- What has been sealed so far, in pieces, as a log can be longer than what a server lends to one sort. A seal whose row is
-- missing keeps its place, without a name.
do $$
declare
  piece constant bigint := 20000;
  after bigint := 0;
  final constant bigint := (select coalesce(max(seq), 0) from workspace.audit_seals);
begin
  while after < final loop
    insert into workspace.audit_totals as total (app_schema, action, actor, rows, last)
    select key.app_schema, known.action, key.actor, count(*), count(*)
    from (
      select coalesce(log.action, '') as action, coalesce(log.actor, '') as actor, log.app_schema
      from workspace.audit_seals as seal left join workspace.audit_log as log using (id)
      where seal.seq > after and seal.seq <= after + piece
    ) as known
    cross join lateral (
      values ('', null), ('', known.actor), (known.app_schema, null), (known.app_schema, known.actor)
    ) as key (app_schema, actor)
    where key.app_schema is not null
    group by key.app_schema, known.action, key.actor
    on conflict on constraint audit_totals_of
    do update set rows = total.rows + excluded.rows, last = total.last + excluded.last;
    update workspace.audit_seals as target
    set app_schema = numbered.app_schema, action = numbered.action, actor = numbered.actor,
      nth = numbered.nth, nth_of_actor = numbered.nth_of_actor,
      nth_in_app = numbered.nth_in_app, nth_of_actor_in_app = numbered.nth_of_actor_in_app
    from (
      select seal.seq, seal.app_schema, seal.action, seal.actor,
        (select total.last from workspace.audit_totals as total
          where total.app_schema = '' and total.actor is null and total.action = seal.action)
          - row_number() over (partition by seal.action order by seal.seq desc) + 1 as nth,
        (select total.last from workspace.audit_totals as total
          where total.app_schema = '' and total.actor = seal.actor and total.action = seal.action)
          - row_number() over (partition by seal.actor, seal.action order by seal.seq desc) + 1 as nth_of_actor,
        (select total.last from workspace.audit_totals as total
          where total.app_schema = seal.app_schema and total.actor is null and total.action = seal.action)
          - row_number() over (partition by seal.app_schema, seal.action order by seal.seq desc) + 1 as nth_in_app,
        (select total.last from workspace.audit_totals as total
          where total.app_schema = seal.app_schema and total.actor = seal.actor and total.action = seal.action)
          - row_number() over (partition by seal.app_schema, seal.actor, seal.action order by seal.seq desc) + 1
          as nth_of_actor_in_app
      from (
        select place.seq, coalesce(log.action, '') as action, coalesce(log.actor, '') as actor, log.app_schema
        from workspace.audit_seals as place left join workspace.audit_log as log using (id)
        where place.seq > after and place.seq <= after + piece
      ) as seal
    ) as numbered
    where numbered.seq = target.seq;
    after := after + piece;
  end loop;
end
$$;
alter table workspace.audit_seals
  alter column action drop default,
  alter column actor drop default,
  alter column nth drop default,
  alter column nth_of_actor drop default;

create index audit_seals_action on workspace.audit_seals (action, seq);
create index audit_seals_actor on workspace.audit_seals (actor, action, seq);
create index audit_seals_app_action on workspace.audit_seals (app_schema, action, seq) where app_schema is not null;
create index audit_seals_app_actor on workspace.audit_seals (app_schema, actor, action, seq)
  where app_schema is not null;
-- Rows are found by their seals, and those that wait by their ids.
drop index workspace.audit_log_action, workspace.audit_log_actor,
  workspace.audit_log_app, workspace.audit_log_app_action, workspace.audit_log_app_actor;

-- Appends seals after the last one. Refuses what does not follow it, and what no row waits for.
create or replace function workspace.audit_seal(first bigint, ids uuid[], hashes bytea[]) returns void
language plpgsql security definer set search_path = '' as $$
declare
  taken bigint;
  sealed bigint;
begin
  update workspace.audit_head as head set seq = first + cardinality(ids) - 1, hash = hashes[cardinality(ids)]
  where head.seq = first - 1;
  if not found or cardinality(ids) <> cardinality(hashes) then
    raise exception 'these seals do not follow the last one' using errcode = '40001';
  end if;
  delete from workspace.audit_queue where id = any (ids);
  get diagnostics taken = row_count;
  insert into workspace.audit_totals as total (app_schema, action, actor, rows, last)
  select key.app_schema, log.action, key.actor, count(*), count(*)
  from workspace.audit_log as log
  cross join lateral (
    values ('', null), ('', log.actor), (log.app_schema, null), (log.app_schema, log.actor)
  ) as key (app_schema, actor)
  where log.id = any (ids) and key.app_schema is not null
  group by key.app_schema, log.action, key.actor
  on conflict on constraint audit_totals_of
  do update set rows = total.rows + excluded.rows, last = total.last + excluded.last;
  insert into workspace.audit_seals (
    seq, id, hash, app_schema, action, actor, nth, nth_of_actor, nth_in_app, nth_of_actor_in_app)
  select first + given.place - 1, log.id, given.hash, log.app_schema, log.action, log.actor,
    -- The last of a kind in here has the kind's last number.
    (select total.last from workspace.audit_totals as total
      where total.app_schema = '' and total.actor is null and total.action = log.action)
      - row_number() over (partition by log.action order by given.place desc) + 1,
    (select total.last from workspace.audit_totals as total
      where total.app_schema = '' and total.actor = log.actor and total.action = log.action)
      - row_number() over (partition by log.actor, log.action order by given.place desc) + 1,
    (select total.last from workspace.audit_totals as total
      where total.app_schema = log.app_schema and total.actor is null and total.action = log.action)
      - row_number() over (partition by log.app_schema, log.action order by given.place desc) + 1,
    (select total.last from workspace.audit_totals as total
      where total.app_schema = log.app_schema and total.actor = log.actor and total.action = log.action)
      - row_number() over (partition by log.app_schema, log.actor, log.action order by given.place desc) + 1
  from unnest(ids, hashes) with ordinality as given (id, hash, place) join workspace.audit_log as log using (id);
  get diagnostics sealed = row_count;
  if taken <> cardinality(ids) or sealed <> cardinality(ids) then
    raise exception 'these rows do not wait for a seal' using errcode = '40001';
  end if;
end
$$;

-- Removes sealed rows from the first on, none of them younger than `before`, and leaves a checkpoint.
create or replace function workspace.audit_prune(through bigint, before timestamptz, proof bytea, at timestamptz)
returns bigint language plpgsql security definer set search_path = '' as $$
declare
  last_hash bytea;
  removed bigint;
begin
  perform from workspace.audit_head for update;
  select seal.hash into last_hash from workspace.audit_seals as seal where seal.seq = through;
  if last_hash is null or exists (
    select from workspace.audit_seals as seal join workspace.audit_log as log on log.id = seal.id
    where seal.seq <= through and log.ts >= before
  ) then
    raise exception 'only sealed rows that are old enough may be removed' using errcode = '40001';
  end if;
  with unsealed as (
    delete from workspace.audit_seals as seal where seal.seq <= through
    returning seal.id, seal.app_schema, seal.action, seal.actor
  ), gone as (
    delete from workspace.audit_log as log using unsealed where log.id = unsealed.id returning log.id
  ), sums as (
    select key.app_schema, unsealed.action, key.actor, count(*) as rows
    from unsealed
    cross join lateral (
      values ('', null), ('', unsealed.actor), (unsealed.app_schema, null), (unsealed.app_schema, unsealed.actor)
    ) as key (app_schema, actor)
    where key.app_schema is not null
    group by key.app_schema, unsealed.action, key.actor
  ), counted as (
    update workspace.audit_totals as total set rows = total.rows - sums.rows from sums
    where total.app_schema = sums.app_schema and total.action = sums.action
      and total.actor is not distinct from sums.actor
  )
  select count(*) into removed from gone;
  delete from workspace.audit_totals as total where total.rows <= 0;
  insert into workspace.audit_checkpoints (seq, hash, removed, created_at, proof)
  values (through, last_hash, removed, at, audit_prune.proof);
  return removed;
end
$$;
set local role none;
revoke create on schema workspace from :auditor_role;
