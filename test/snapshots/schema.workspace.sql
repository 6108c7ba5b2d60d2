table apps
  id text not null
  name text not null
  schema text not null
  version integer not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint apps_id PRIMARY KEY (id)
  constraint apps_schema UNIQUE (schema)

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
  app text
  app_schema text
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
  app_schema text
  action text not null
  actor text not null
  nth bigint not null
  nth_of_actor bigint not null
  nth_in_app bigint
  nth_of_actor_in_app bigint
  CREATE INDEX audit_seals_action ON workspace.audit_seals USING btree (action, seq)
  CREATE INDEX audit_seals_actor ON workspace.audit_seals USING btree (actor, action, seq)
  CREATE INDEX audit_seals_app_action ON workspace.audit_seals USING btree (app_schema, action, seq) WHERE (app_schema IS NOT NULL)
  CREATE INDEX audit_seals_app_actor ON workspace.audit_seals USING btree (app_schema, actor, action, seq) WHERE (app_schema IS NOT NULL)
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

table lockouts
  subject text not null
  failed_at timestamp with time zone[] not null
  last_failed_at timestamp with time zone not null
  locked_until timestamp with time zone
  CREATE INDEX lockouts_last_failed_at ON workspace.lockouts USING btree (last_failed_at)
  constraint lockouts_pkey PRIMARY KEY (subject)

table mail_budgets
  email text not null
  purpose text not null
  full_at timestamp with time zone not null
  CREATE INDEX mail_budgets_full_at ON workspace.mail_budgets USING btree (full_at)
  constraint mail_budgets_pkey PRIMARY KEY (email, purpose)
  constraint mail_budgets_purpose_check CHECK ((purpose = ANY (ARRAY['verify_email'::text, 'password_reset'::text, 'password_changed'::text, 'email_change'::text, 'otp'::text, 'invite'::text, 'hook'::text])))

table migrations
  version integer not null
  name text not null
  applied_at timestamp with time zone not null default now()
  constraint migrations_pkey PRIMARY KEY (version)

table oauth_links
  provider text not null
  source text not null
  subject text not null
  user_id uuid not null
  created_at timestamp with time zone not null
  CREATE INDEX oauth_links_user ON workspace.oauth_links USING btree (user_id)
  constraint oauth_links_account PRIMARY KEY (provider, source, subject)
  constraint oauth_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES workspace.users(id) ON DELETE CASCADE

table oauth_providers
  provider text not null
  client_id text not null
  client_secret_sealed bytea
  auth_url text not null
  token_url text not null
  userinfo_url text not null
  scopes text[] not null
  token_auth_method text not null
  redirect_uris text[]
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  issuer text
  constraint oauth_providers_provider PRIMARY KEY (provider)
  constraint oauth_providers_token_auth_method_check CHECK ((token_auth_method = ANY (ARRAY['client_secret_post'::text, 'client_secret_basic'::text])))

table oauth_states
  hash bytea not null
  provider text not null
  redirect_uri text not null
  code_verifier text not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  used_at timestamp with time zone
  CREATE INDEX oauth_states_expires_at ON workspace.oauth_states USING btree (expires_at)
  CREATE INDEX oauth_states_provider ON workspace.oauth_states USING btree (provider)
  constraint oauth_states_pkey PRIMARY KEY (hash)
  constraint oauth_states_provider_fkey FOREIGN KEY (provider) REFERENCES workspace.oauth_providers(provider) ON DELETE CASCADE

table one_time_tokens
  id uuid not null
  purpose text not null
  email text not null
  user_id uuid
  hash bytea not null
  app text
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  used_at timestamp with time zone
  method text
  wrong_codes smallint not null default 0
  CREATE INDEX one_time_tokens_email ON workspace.one_time_tokens USING btree (email, purpose) WHERE (used_at IS NULL)
  CREATE INDEX one_time_tokens_expires_at ON workspace.one_time_tokens USING btree (expires_at)
  CREATE INDEX one_time_tokens_hash ON workspace.one_time_tokens USING btree (hash)
  CREATE INDEX one_time_tokens_user ON workspace.one_time_tokens USING btree (user_id) WHERE (user_id IS NOT NULL)
  constraint one_time_tokens_method CHECK (((purpose = 'mfa'::text) = (method IS NOT NULL)))
  constraint one_time_tokens_method_check CHECK ((method = ANY (ARRAY['password'::text, 'otp'::text, 'oauth'::text])))
  constraint one_time_tokens_pkey PRIMARY KEY (id)
  constraint one_time_tokens_purpose_check CHECK ((purpose = ANY (ARRAY['verify_email'::text, 'password_reset'::text, 'email_change'::text, 'otp'::text, 'invite'::text, 'mfa'::text])))
  constraint one_time_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES workspace.users(id) ON DELETE CASCADE

table recovery_codes
  user_id uuid not null
  hash bytea not null
  constraint recovery_codes_pkey PRIMARY KEY (user_id, hash)
  constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES workspace.users(id) ON DELETE CASCADE

table sessions
  id uuid not null
  family uuid not null
  kind text not null
  principal_id uuid not null
  user_id uuid generated 
CASE kind
    WHEN 'user'::text THEN principal_id
    ELSE NULL::uuid
END
  app text
  token_hash bytea not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  rotated_at timestamp with time zone
  revoked_at timestamp with time zone
  user_agent text
  ip text
  CREATE INDEX sessions_expires_at ON workspace.sessions USING btree (expires_at)
  CREATE INDEX sessions_family ON workspace.sessions USING btree (family)
  CREATE INDEX sessions_principal ON workspace.sessions USING btree (principal_id)
  CREATE INDEX sessions_user ON workspace.sessions USING btree (user_id) WHERE (user_id IS NOT NULL)
  constraint sessions_kind_check CHECK ((kind = ANY (ARRAY['admin'::text, 'user'::text])))
  constraint sessions_pkey PRIMARY KEY (id)
  constraint sessions_token_hash UNIQUE (token_hash)
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES workspace.users(id) ON DELETE CASCADE

table spare_apps
  schema text not null
  version integer not null
  constraint spare_apps_pkey PRIMARY KEY (schema)

table users
  id uuid not null
  email text not null
  password_hash text
  verified boolean not null default false
  totp_sealed bytea
  totp_enabled boolean not null default false
  last_login timestamp with time zone
  oauth_providers jsonb not null default '[]'::jsonb
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  totp_last_step bigint
  email_ascii text
  constraint users_email UNIQUE (email)
  constraint users_email_ascii UNIQUE (email_ascii)
  constraint users_id PRIMARY KEY (id)

view users_public
  SELECT id,
  email,
  verified,
  password_hash IS NOT NULL AS has_password,
  totp_enabled,
  last_login,
  oauth_providers,
  created_at,
  updated_at
  FROM workspace.users;

CREATE OR REPLACE FUNCTION workspace.audit_app(id uuid, ts timestamp with time zone, actor text, action text, target text, details jsonb, request_id text, ip text, user_agent text)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
BEGIN ATOMIC
 INSERT INTO workspace.audit_log (id, ts, actor, action, target, details, app, app_schema, request_id, ip, user_agent)  SELECT audit_app.id AS id,
             audit_app.ts AS ts,
             audit_app.actor AS actor,
             audit_app.action AS action,
             audit_app.target AS target,
             audit_app.details AS details,
             apps.id,
             apps.schema,
             audit_app.request_id AS request_id,
             audit_app.ip AS ip,
             audit_app.user_agent AS user_agent
            FROM workspace.apps
           WHERE (apps.schema = ('a_'::text || substr((SESSION_USER)::text, 3)))
   RETURNING (current_database())::text AS current_database;
END

CREATE OR REPLACE FUNCTION workspace.audit_begin(OUT seq bigint, OUT hash bytea)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  select head.seq, head.hash into seq, hash from workspace.audit_head as head for update;
end
$function$

CREATE OR REPLACE FUNCTION workspace.audit_enqueue()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  insert into workspace.audit_queue (id) select added.id from added;
  return null;
end
$function$

CREATE OR REPLACE FUNCTION workspace.audit_prune(through bigint, before timestamp with time zone, proof bytea, at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION workspace.audit_seal(first bigint, ids uuid[], hashes bytea[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION workspace.enrol_user(id uuid, email text, password_hash text, now timestamp with time zone, email_ascii text DEFAULT NULL::text)
 RETURNS uuid
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
BEGIN ATOMIC
 INSERT INTO workspace.users (id, email, email_ascii, password_hash, created_at, updated_at)  SELECT enrol_user.id AS id,
             lower(enrol_user.email) AS lower,
             enrol_user.email_ascii AS email_ascii,
             enrol_user.password_hash AS password_hash,
             enrol_user.now AS now,
             enrol_user.now AS now
           WHERE (NOT (EXISTS ( SELECT
                    FROM workspace.users users_1
                   WHERE (users_1.email_ascii = enrol_user.email_ascii)))) ON CONFLICT(email) DO NOTHING;
 SELECT users.id
    FROM workspace.users
   WHERE ((users.email = lower(enrol_user.email)) OR (users.email_ascii = enrol_user.email_ascii))
  FOR KEY SHARE OF users;
END

grant delete, insert, select on recovery_codes to CONTROL_workspace
grant delete, insert, select, update on lockouts to CONTROL_workspace
grant delete, insert, select, update on mail_budgets to CONTROL_workspace
grant delete, insert, select, update on oauth_links to CONTROL_workspace
grant delete, insert, select, update on oauth_providers to CONTROL_workspace
grant delete, insert, select, update on oauth_states to CONTROL_workspace
grant delete, insert, select, update on one_time_tokens to CONTROL_workspace
grant delete, insert, select, update on sessions to CONTROL_workspace
grant delete, insert, select, update on users to CONTROL_workspace
grant execute function audit_app to CONTROL_app
grant execute function audit_app to CONTROL_app_owner
grant execute function audit_begin to bulkhead
grant execute function audit_begin to CONTROL_workspace
grant execute function audit_prune to bulkhead
grant execute function audit_seal to bulkhead
grant execute function audit_seal to CONTROL_workspace
grant execute function enrol_user to CONTROL_app
grant insert, select on audit_log to bulkhead
grant insert, select on audit_log to CONTROL_workspace
grant references on users (id) to CONTROL_app_owner
grant select on apps to CONTROL_workspace
grant select on audit_checkpoints to bulkhead
grant select on audit_head to bulkhead
grant select on audit_queue to bulkhead
grant select on audit_queue to CONTROL_workspace
grant select on audit_seals to bulkhead
grant select on audit_seals to CONTROL_workspace
grant select on audit_totals to bulkhead
grant select on audit_totals to CONTROL_workspace
grant select on users_public to CONTROL_app
grant select on users_public to CONTROL_workspace
grant usage schema workspace to CONTROL_app
grant usage schema workspace to CONTROL_app_owner
grant usage schema workspace to CONTROL_auditor
grant usage schema workspace to CONTROL_workspace
