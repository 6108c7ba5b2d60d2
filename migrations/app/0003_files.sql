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
