-- Archives that administrators export have email addresses and custom attributes that other members must not see. They are kept beside those of
-- others, and only administrators get them. Whose the present ones are is unknown.
alter table finished_exports add column for_administrators boolean not null default true;

drop index finished_exports_project, finished_exports_namespace;
create unique index finished_exports_project on finished_exports (project_id, for_administrators) where project_id is not null;
create unique index finished_exports_namespace on finished_exports (namespace_id, for_administrators) where namespace_id is not null;
