table admins
  id uuid not null
  workspace text not null
  email text not null
  name text not null
  password_hash text not null
  role text not null
  app_ids text[] not null default '{}'::text[]
  credentials_changed_at timestamp with time zone not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  email_ascii text
  constraint admins_pkey PRIMARY KEY (id)
  constraint admins_role_check CHECK ((role = ANY (ARRAY['workspace_admin'::text, 'app_admin'::text])))
  constraint admins_workspace_email UNIQUE (workspace, email)
  constraint admins_workspace_email_ascii UNIQUE (workspace, email_ascii)
  constraint admins_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table api_keys
  id uuid not null
  name text not null
  secret_hash bytea not null
  workspace text
  app text
  scopes text[] not null
  maker uuid not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone
  last_used_at timestamp with time zone
  CREATE INDEX api_keys_maker ON control.api_keys USING btree (maker)
  CREATE INDEX api_keys_place ON control.api_keys USING btree (workspace, app, id)
  constraint api_keys_pkey PRIMARY KEY (id)
  constraint api_keys_place CHECK (((app IS NULL) OR (workspace IS NOT NULL)))
  constraint api_keys_secret_hash UNIQUE (secret_hash)
  constraint api_keys_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table audit_checkpoints
  seq bigint not null
  hash bytea not null
  removed bigint not null
  created_at timestamp with time zone not null
  proof bytea not null
  constraint audit_checkpoints_pkey PRIMARY KEY (seq)

table audit_head
  one boolean not null default true
  seq bigint not null
  hash bytea not null
  constraint audit_head_one_check CHECK (one)
  constraint audit_head_pkey PRIMARY KEY (one)

table audit_log
  id uuid not null
  ts timestamp with time zone not null
  actor text not null
  action text not null
  target text not null
  details jsonb not null
  workspace text
  request_id text
  ip text
  user_agent text
  constraint audit_log_pkey PRIMARY KEY (id)

table audit_queue
  id uuid not null
  constraint audit_queue_pkey PRIMARY KEY (id)

table audit_seals
  seq bigint not null
  id uuid not null
  hash bytea not null
  action text not null
  actor text not null
  nth bigint not null
  nth_of_actor bigint not null
  CREATE INDEX audit_seals_action ON control.audit_seals USING btree (action, seq)
  CREATE INDEX audit_seals_actor ON control.audit_seals USING btree (actor, action, seq)
  constraint audit_seals_id UNIQUE (id)
  constraint audit_seals_pkey PRIMARY KEY (seq)
  constraint audit_seals_seq_check CHECK ((seq > 0))

table audit_totals
  app_schema text not null
  action text not null
  actor text
  rows bigint not null
  last bigint not null
  constraint audit_totals_of UNIQUE NULLS NOT DISTINCT (app_schema, actor, action)

table hook_jobs
  schema text not null
  workspace text not null
  app text not null
  jobs jsonb not null
  CREATE INDEX hook_jobs_app ON control.hook_jobs USING btree (workspace, app)
  constraint hook_jobs_pkey PRIMARY KEY (schema)
  constraint hook_jobs_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table lockouts
  subject text not null
  failed_at timestamp with time zone[] not null
  last_failed_at timestamp with time zone not null
  locked_until timestamp with time zone
  CREATE INDEX lockouts_last_failed_at ON control.lockouts USING btree (last_failed_at)
  constraint lockouts_pkey PRIMARY KEY (subject)

table mail_queue
  id uuid not null
  workspace text not null
  sealed bytea not null
  attempts integer not null default 0
  next_attempt_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  created_at timestamp with time zone not null
  of_app boolean not null default false
  CREATE INDEX mail_queue_turns ON control.mail_queue USING btree (of_app, workspace, next_attempt_at, id)
  CREATE INDEX mail_queue_workspace ON control.mail_queue USING btree (workspace)
  constraint mail_queue_pkey PRIMARY KEY (id)
  constraint mail_queue_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table master_admins
  id uuid not null
  username text not null
  password_hash text
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint master_admins_pkey PRIMARY KEY (id)
  constraint master_admins_username UNIQUE (username)

table migrations
  version integer not null
  name text not null
  applied_at timestamp with time zone not null default now()
  constraint migrations_pkey PRIMARY KEY (version)

table policies
  workspace text
  app text
  field text not null
  spec jsonb not null
  updated_at timestamp with time zone not null
  CREATE INDEX policies_field ON control.policies USING btree (field)
  constraint policies_check CHECK (((app IS NULL) OR (workspace IS NOT NULL)))
  constraint policies_place UNIQUE NULLS NOT DISTINCT (workspace, app, field)
  constraint policies_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table revocations
  kind text not null
  key text not null
  not_before timestamp with time zone not null
  scope jsonb
  expires_at timestamp with time zone not null
  created_at timestamp with time zone not null default now()
  CREATE INDEX revocations_expires_at ON control.revocations USING btree (expires_at)
  constraint revocations_kind_check CHECK ((kind = ANY (ARRAY['jti'::text, 'subject'::text, 'scope'::text, 'workspace'::text, 'app'::text])))
  constraint revocations_pkey PRIMARY KEY (kind, key)

table server
  one boolean not null default true
  initialized boolean not null default false
  key_check bytea
  created_at timestamp with time zone not null default now()
  constraint server_one_check CHECK (one)
  constraint server_pkey PRIMARY KEY (one)

table sessions
  id uuid not null
  family uuid not null
  kind text not null
  principal_id uuid not null
  app text
  token_hash bytea not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  rotated_at timestamp with time zone
  revoked_at timestamp with time zone
  user_agent text
  ip text
  CREATE INDEX sessions_expires_at ON control.sessions USING btree (expires_at)
  CREATE INDEX sessions_family ON control.sessions USING btree (family)
  CREATE INDEX sessions_principal ON control.sessions USING btree (principal_id)
  constraint sessions_app_check CHECK ((app IS NULL))
  constraint sessions_kind_check CHECK ((kind = 'master'::text))
  constraint sessions_pkey PRIMARY KEY (id)
  constraint sessions_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES control.master_admins(id) ON DELETE CASCADE
  constraint sessions_token_hash UNIQUE (token_hash)

table signing_keys
  kid text not null
  algorithm text not null
  public_jwk jsonb not null
  private_sealed bytea not null
  created_at timestamp with time zone not null default now()
  constraint signing_keys_pkey PRIMARY KEY (kid)

table tenant_databases
  name text not null
  state text not null
  version integer not null
  app_version integer not null
  created_at timestamp with time zone not null default now()
  CREATE INDEX tenant_databases_state ON control.tenant_databases USING btree (state, created_at) WHERE (state <> 'assigned'::text)
  CREATE INDEX tenant_databases_versions ON control.tenant_databases USING btree (version, app_version)
  constraint tenant_databases_pkey PRIMARY KEY (name)
  constraint tenant_databases_state_check CHECK ((state = ANY (ARRAY['creating'::text, 'spare'::text, 'assigned'::text, 'template'::text, 'dropping'::text])))

table usage
  workspace text not null
  schema text not null
  hour timestamp with time zone not null
  requests bigint not null
  hook_runs bigint not null
  mails bigint not null default 0
  hook_cpu_ms bigint not null default 0
  CREATE INDEX usage_hour ON control.usage USING btree (hour)
  constraint usage_pkey PRIMARY KEY (workspace, schema, hour)
  constraint usage_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table workspace_templates
  database text not null
  origins text[] not null
  policies jsonb not null
  constraint workspace_templates_database_fkey FOREIGN KEY (database) REFERENCES control.tenant_databases(name) ON DELETE CASCADE
  constraint workspace_templates_pkey PRIMARY KEY (database)

table workspaces
  id text not null
  name text not null
  database text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  origins text[] not null default '{}'::text[]
  expires_at timestamp with time zone
  source text
  template text
  CREATE INDEX workspaces_expires_at ON control.workspaces USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  constraint workspaces_database UNIQUE (database)
  constraint workspaces_database_fkey FOREIGN KEY (database) REFERENCES control.tenant_databases(name)
  constraint workspaces_id PRIMARY KEY (id)
  constraint workspaces_template UNIQUE (template)
  constraint workspaces_template_fkey FOREIGN KEY (template) REFERENCES control.workspace_templates(database)

CREATE OR REPLACE FUNCTION control.audit_begin(OUT seq bigint, OUT hash bytea)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  select head.seq, head.hash into seq, hash from control.audit_head as head for update;
end
$function$

CREATE OR REPLACE FUNCTION control.audit_enqueue()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  insert into control.audit_queue (id) select added.id from added;
  return null;
end
$function$

CREATE OR REPLACE FUNCTION control.audit_prune(through bigint, before timestamp with time zone, proof bytea, at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION control.audit_seal(first bigint, ids uuid[], hashes bytea[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$

grant execute function audit_begin to bulkhead
grant execute function audit_prune to bulkhead
grant execute function audit_seal to bulkhead
grant insert, select on audit_log to bulkhead
grant select on audit_checkpoints to bulkhead
grant select on audit_head to bulkhead
grant select on audit_queue to bulkhead
grant select on audit_seals to bulkhead
grant select on audit_totals to bulkhead
grant usage schema control to CONTROL_auditor
