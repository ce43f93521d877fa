-- When a repository was last read whole, to see whether it is damaged.
alter table project_housekeeping add column checked_at timestamptz;
