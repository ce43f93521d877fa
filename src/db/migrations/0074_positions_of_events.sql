-- Transaction ids begin again in the server to which a backup is restored. The positions of events must not: readers of the log
-- remember them, and events above the current transaction id would not be read. A restore sets `added` in this one row so that new
-- positions are above all restored ones.
create table event_positions (
  only_row boolean primary key default true check (only_row),
  added bigint not null
);
insert into event_positions (added) values (0);

-- The position in the log of a transaction.
create function event_position(txid xid8) returns xid8 language sql stable parallel safe as $$
  select (txid::text::numeric + (select added from event_positions))::text::xid8
$$;

alter table events alter column txid set default event_position(pg_current_xact_id());
