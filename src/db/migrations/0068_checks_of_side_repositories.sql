-- Last check of all objects by git.
alter table side_repositories add column checked_at timestamptz;
