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
  constraint admins_pkey PRIMARY KEY (id)
  constraint admins_role_check CHECK ((role = ANY (ARRAY['workspace_admin'::text, 'app_admin'::text])))
  constraint admins_workspace_email UNIQUE (workspace, email)
  constraint admins_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

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
  CREATE INDEX audit_log_actor ON control.audit_log USING btree (actor, id DESC)
  constraint audit_log_pkey PRIMARY KEY (id)

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
  CREATE INDEX mail_queue_next_attempt_at ON control.mail_queue USING btree (next_attempt_at)
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
  constraint tenant_databases_state_check CHECK ((state = ANY (ARRAY['creating'::text, 'spare'::text, 'assigned'::text, 'dropping'::text])))

table usage
  workspace text not null
  app text not null
  hour timestamp with time zone not null
  requests bigint not null
  hook_runs bigint not null
  CREATE INDEX usage_hour ON control.usage USING btree (hour)
  constraint usage_pkey PRIMARY KEY (workspace, app, hour)
  constraint usage_workspace_fkey FOREIGN KEY (workspace) REFERENCES control.workspaces(id) ON DELETE CASCADE

table workspaces
  id text not null
  name text not null
  database text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint workspaces_database UNIQUE (database)
  constraint workspaces_database_fkey FOREIGN KEY (database) REFERENCES control.tenant_databases(name)
  constraint workspaces_id PRIMARY KEY (id)

