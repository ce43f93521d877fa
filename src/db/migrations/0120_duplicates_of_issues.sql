-- The issue of which this one was closed as a duplicate.
alter table issues add column duplicated_to_id bigint references issues on delete set null;
create index issues_duplicated_to on issues (duplicated_to_id) where duplicated_to_id is not null;
