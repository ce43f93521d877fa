-- The rows that payloads of the event show, as they were: the senders read them when they build a payload, and rows may be gone by then.
alter table hook_events add column shown jsonb not null default '{}';
