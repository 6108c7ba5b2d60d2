-- Fields that number the records of a collection, or those that have the same value in another field (storage/app/alter/autonumber.ts).

-- The latest numbers. A create holds its row until it is committed, so that numbers have neither gaps nor doubles.
create table _autonumbers (
  -- The name of the field's trigger.
  counter text not null,
  -- The value that the numbered records share; empty where all of a collection are numbered together.
  shared text not null,
  last bigint not null,
  primary key (counter, shared)
);

-- Both functions run as the owner of the schema: only they change the numbers.
do $$
begin
  execute format('revoke insert, update, delete on _autonumbers from %I', current_schema());
end $$;

-- Before a record is inserted. Arguments: counter, the numbered field, and the field that the records share or ''. A number that an
-- import gives stays, and later ones are higher.
create function _autonumber() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  value text;
  given double precision;
  number bigint;
begin
  if tg_argv[2] <> '' then
    execute format('select ($1).%I::text', tg_argv[2]) into value using new;
  end if;
  execute format('select ($1).%I', tg_argv[1]) into given using new;
  execute format('insert into %I._autonumbers as known (counter, shared, last) values ($1, $2, $3)
      on conflict (counter, shared) do update set last = greatest(known.last + $4, $3) returning last', tg_table_schema)
    into number using tg_argv[0], coalesce(value, ''), case when given is null then 1 else greatest(ceil(given), 0)::bigint end,
      case when given is null then 1 else 0 end;
  if given is null then
    new := jsonb_populate_record(new, jsonb_build_object(tg_argv[1], number));
  end if;
  return new;
end $$;

-- Before a record moves to others that share a value: its number may be taken there, and would be missing here.
create function _autonumber_stays() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  raise check_violation using constraint = tg_argv[0], message = 'records are numbered within this field';
end $$;
