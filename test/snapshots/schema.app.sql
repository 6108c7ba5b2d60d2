table _access_rules
  collection text not null
  action text not null
  template text not null
  filter text
  updated_at timestamp with time zone not null
  constraint _access_rules_action_check CHECK ((action = ANY (ARRAY['list'::text, 'get'::text, 'create'::text, 'update'::text, 'delete'::text])))
  constraint _access_rules_check CHECK (((filter IS NOT NULL) = (template = 'filter'::text)))
  constraint _access_rules_collection_fkey FOREIGN KEY (collection) REFERENCES APP._collections(id) ON DELETE CASCADE
  constraint _access_rules_pkey PRIMARY KEY (collection, action)
  constraint _access_rules_template_check CHECK ((template = ANY (ARRAY['any'::text, 'auth'::text, 'admin'::text, 'filter'::text])))

table _autonumbers
  counter text not null
  shared text not null
  last bigint not null
  constraint _autonumbers_pkey PRIMARY KEY (counter, shared)

table _collections
  id text not null
  kind text not null
  fields jsonb not null
  version integer not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  indexes jsonb not null default '[]'::jsonb
  search jsonb
  query text
  constraint _collections_pkey PRIMARY KEY (id)

table _files
  id uuid not null
  filename text not null
  mime text not null
  size bigint not null
  uploaded_by uuid
  created_at timestamp(3) with time zone not null
  CREATE INDEX _files_uploaded_by ON APP._files USING btree (uploaded_by, id DESC)
  constraint _files_pkey PRIMARY KEY (id)

table _hook_environment
  name text not null
  sealed bytea not null
  updated_at timestamp with time zone not null
  constraint _hook_environment_pkey PRIMARY KEY (name)

table _hook_versions
  filename text not null
  source bytea not null
  sha256 text not null
  registrations text not null
  loaded_at timestamp(3) with time zone not null
  constraint _hook_versions_pkey PRIMARY KEY (filename)

table _migrations
  version integer not null
  name text not null
  applied_at timestamp with time zone not null default now()
  constraint _migrations_pkey PRIMARY KEY (version)

CREATE OR REPLACE FUNCTION APP._autonumber()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION APP._autonumber_stays()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  raise check_violation using constraint = tg_argv[0], message = 'records are numbered within this field';
end $function$

CREATE OR REPLACE FUNCTION APP._link_items()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if tg_op = 'INSERT' then
    execute format('insert into %I.%I select distinct i, $1.id from unnest(($1).%I) as i',
      tg_table_schema, tg_argv[0], tg_argv[1]) using new;
  elsif tg_op = 'DELETE' then
    execute format('delete from %I.%I where target = any(($1).%I) and record = $1.id',
      tg_table_schema, tg_argv[0], tg_argv[1]) using old;
  else
    execute format('delete from %1$I.%2$I where target = any(($1).%3$I) and target <> all(($2).%3$I) and record = $1.id',
      tg_table_schema, tg_argv[0], tg_argv[1]) using old, new;
    execute format('insert into %1$I.%2$I select distinct i, $2.id from unnest(($2).%3$I) as i where i <> all(($1).%3$I)',
      tg_table_schema, tg_argv[0], tg_argv[1]) using old, new;
  end if;
  return null;
end $function$

CREATE OR REPLACE FUNCTION APP._unlink_item()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  items integer;
begin
  if tg_argv[2] = 'delete' then
    execute format('delete from %I.%I where id = $1 and %I @> array[$2]', tg_table_schema, tg_argv[0], tg_argv[1])
      using old.record, old.target;
    return null;
  end if;
  execute format('update %1$I.%2$I set %3$I = array_remove(%3$I, $2), updated_at = greatest(updated_at, now())
      where id = $1 and %3$I @> array[$2] returning cardinality(%3$I)', tg_table_schema, tg_argv[0], tg_argv[1])
    into items using old.record, old.target;
  if items < tg_argv[2]::integer then
    -- The words of PostgreSQL's own error.
    raise foreign_key_violation using constraint = tg_argv[3],
      message = format('update or delete on table violates foreign key constraint "%s" on table "%s"', tg_argv[3], tg_argv[0]);
  end if;
  return null;
end $function$

grant delete, insert, select, update on _files to APP
grant delete, insert, select, update on _hook_environment to APP
grant delete, insert, select, update on _hook_versions to APP
grant execute function _autonumber to public
grant execute function _autonumber_stays to public
grant execute function _link_items to public
grant execute function _unlink_item to public
grant select on _access_rules to APP
grant select on _autonumbers to APP
grant select on _collections to APP
grant select on _migrations to APP
grant usage schema APP to APP
