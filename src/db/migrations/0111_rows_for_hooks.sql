-- The rows that payloads of the event show, as they were: the senders read them when they build a payload, and rows may be gone by then.
alter table hook_events add column shown jsonb not null default '{}';

-- Whether an issue that is gone was confidential: what open hooks receive of it depends on that.
create index hook_events_confidential on hook_events (((payload ->> 'issue_id')::bigint))
where facts ->> 'confidential' = 'true' and payload ? 'issue_id';
