-- The archive that a request uploads, which may not be the newest of its project. Null until it is finished.
alter table export_requests add column finished_id bigint references finished_exports on delete set null;
create index export_requests_finished on export_requests (finished_id) where finished_id is not null;

-- An archive that is being uploaded stays beside the one of a later request.
drop index finished_exports_project, finished_exports_namespace;
create index finished_exports_project on finished_exports (project_id, for_administrators) where project_id is not null;
create index finished_exports_namespace on finished_exports (namespace_id, for_administrators) where namespace_id is not null;
