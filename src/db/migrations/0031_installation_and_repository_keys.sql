-- A database and a data folder that belong together have the same id. The first start writes it to both.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null
);

-- The repository of a project carries this key, and one with another key is never read: ids are used again after a restore.
alter table projects add column repository_key uuid not null default gen_random_uuid();

-- When the jobs process last took a job.
create table job_runner (
  is_only boolean primary key default true check (is_only),
  taken_at timestamptz not null
);
