-- What happens to epics is shown in activity lists, too: it belongs to a group instead of a project.
alter table feed_events alter column project_id drop not null;
alter table feed_events add column namespace_id bigint references namespaces on delete cascade;
alter table feed_events add constraint feed_events_holder check (num_nonnulls(project_id, namespace_id) = 1) not valid;
alter table feed_events validate constraint feed_events_holder;
create index feed_events_namespace on feed_events (namespace_id) where namespace_id is not null;
