-- Extensions that come with PostgreSQL. pg_trgm finds words with typing errors; where a server lacks it, or does not let us
-- create it, searches find exact words and beginnings of words only.
create schema extensions;
grant usage on schema extensions to :app_role, :app_owner_role;
do $$
begin
  if exists (select from pg_available_extensions where name = 'pg_trgm') then
    create extension if not exists pg_trgm schema extensions;
  end if;
exception
  when insufficient_privilege or feature_not_supported or undefined_file then
    raise notice 'pg_trgm cannot be created: %', sqlerrm;
end $$;
