-- Runs as the role that owns the schema from now on. The app's own role, of the schema's name, reads and writes records and makes
-- nothing: what it could define (a cast, a trigger, an operator) would run in the sessions of others.
do $$
begin
  execute format('grant usage on schema %1$I to %1$I', current_schema());
  execute format('grant select, insert, update, delete on all tables in schema %1$I to %1$I', current_schema());
  execute format('revoke insert, update, delete on _migrations, _collections, _access_rules from %I', current_schema());
  execute format('alter default privileges in schema %1$I grant select, insert, update, delete on tables to %1$I',
    current_schema());
end $$;
