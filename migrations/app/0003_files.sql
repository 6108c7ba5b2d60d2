-- What is known of an app's files; their bytes are in the blob store, under the file's id.

create table _files (
  -- Version 7, so the order of ids is the order of uploads.
  id uuid primary key,
  filename text not null,
  mime text not null,
  size bigint not null,
  -- The end-user who uploaded it; null for an admin or a hook.
  uploaded_by uuid,
  created_at timestamptz(3) not null
);
create index _files_uploaded_by on _files (uploaded_by, id desc);

-- Fields of kind file were made before there were files: what they hold stays, what comes is checked. The names are those that
-- new fields get (storage/app/tables.ts).
do $$
declare
  field record;
  digest text;
begin
  for field in
    select c.id as collection, f ->> 'name' as name,
      coalesce((f ->> 'unique')::boolean, false) or coalesce((f ->> 'index')::boolean, false) as indexed,
      coalesce((f ->> 'required')::boolean, false) as required
    from _collections as c, jsonb_array_elements(c.fields) as f where f ->> 'kind' = 'file'
  loop
    digest := left(encode(sha256(convert_to(field.collection || '.' || field.name, 'UTF8')), 'hex'), 24);
    if not field.indexed then
      execute format('create index %I on %I (%I)', '_i_' || digest, field.collection, field.name);
    end if;
    execute format(
      'alter table %I add constraint %I foreign key (%I) references _files (id) on delete %s not valid',
      field.collection, '_r_' || digest, field.name,
      case when field.required then 'no action' else 'set null' end
    );
  end loop;
end $$;
