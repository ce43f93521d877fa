-- Which transactions have changed which tables: processes that cache rows learn with one query what has changed since a snapshot.

create unlogged table table_changes (
  transaction xid8 not null,
  -- Empty: the rows of all transactions from this one on are complete.
  relation text not null,
  primary key (transaction, relation)
);

create function note_table_change() returns trigger language plpgsql as $$
begin
  -- A transaction that has changed nothing has no id.
  if pg_current_xact_id_if_assigned() is not null then
    insert into table_changes values (pg_current_xact_id(), tg_table_name) on conflict do nothing;
  end if;
  return null;
end
$$;

do $$
declare
  name text;
begin
  for name in
    select c.relname
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
    order by c.relname
  loop
    execute format(
      'create trigger note_table_change after insert or update or delete or truncate on %I for each statement execute function note_table_change()',
      name
    );
  end loop;
end
$$;

insert into table_changes values (pg_snapshot_xmin(pg_current_snapshot()), '');
