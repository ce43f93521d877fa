-- Events store ids (src/events/catalogue.ts). Those from before store names, addresses and texts too, and no code reads them.
truncate events;
-- Retention goes by time, the deletion of a group or user by what the event is about.
create index events_created_at on events (created_at);
create index events_group on events (group_id) where group_id is not null;
create index events_user on events (((payload ->> 'user_id')::bigint)) where payload ? 'user_id';

-- No user changes or deletes an audit row. The job that ends them by age names the time before which they may go, for its transaction.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.created_at < nullif(current_setting('stithy.audit_end', true), '')::timestamptz then
    return old;
  end if;
  raise exception 'rows of % are kept as they were written', tg_table_name;
end $$;

-- The deletion of a user finds the system notes that name the user.
create index notes_with_names on notes (id) where system and body like '%@%';
