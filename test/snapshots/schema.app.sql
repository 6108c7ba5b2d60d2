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

table _collections
  id text not null
  kind text not null
  fields jsonb not null
  version integer not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  indexes jsonb not null default '[]'::jsonb
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

grant delete, insert, select, update on _files to APP
grant delete, insert, select, update on _hook_environment to APP
grant delete, insert, select, update on _hook_versions to APP
grant select on _access_rules to APP
grant select on _collections to APP
grant select on _migrations to APP
grant usage schema APP to APP
