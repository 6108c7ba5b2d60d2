-- Fields that hold many references: the record has them in an array, and a link table (storage/app/alter/links.ts) has a row for each,
-- whose foreign key makes sure that it is there. Both functions run as the owner of the schema, because deletions of users come
-- from outside of the app.

-- After a write of a record. Arguments: link table, column.
create function _link_items() returns trigger language plpgsql security definer set search_path = '' as $$
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
end $$;

-- After the end of a link. Where the array still has the item, what it points to was deleted. Arguments: table, column, 'delete'
-- or the number of items that have to be left, foreign key.
create function _unlink_item() returns trigger language plpgsql security definer set search_path = '' as $$
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
end $$;
