-- A group can be marked for deletion, and restored until a job removes it.

alter table namespaces add column marked_for_deletion_on date;
create index namespaces_marked on namespaces (marked_for_deletion_on) where marked_for_deletion_on is not null;
