-- Which transactions have changed which tables: processes that cache rows learn with one query what has changed since a moment
-- (docs/adr/0035-rows-cached-by-table.md). What a crash of the server empties, they take for changed.

create unlogged table table_changes (
  transaction xid8 not null,
  -- The name of a table, or of a table and a column that is recorded apart from the others.
  relation text not null,
  primary key (transaction, relation)
);

create unlogged table table_changes_kept (
  only_one boolean primary key default true check (only_one),
  -- The changes of transactions from this one on are in table_changes.
  since xid8 not null,
  -- The next value of it.
  next xid8 not null
);

create function note_table_change() returns trigger language plpgsql as $$
begin
  -- A transaction that has changed nothing has no id.
  if pg_current_xact_id_if_assigned() is not null then
    insert into table_changes values (pg_current_xact_id(), concat_ws('.', tg_table_name, tg_argv[0])) on conflict do nothing;
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
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p' and c.relname <> 'projects'
    order by c.relname
  loop
    execute format(
      'create trigger note_table_change after insert or update or delete or truncate on %I for each statement execute function note_table_change()',
      name
    );
  end loop;
end
$$;

-- Almost everything that happens in a project changes its last activity, which few statements read.
create trigger note_table_change
after insert or delete or truncate on projects for each statement execute function note_table_change();

do $$
begin
  execute format(
    'create trigger note_update after update of %s on projects for each statement execute function note_table_change()',
    (
      select string_agg(quote_ident(attname), ', ' order by attnum)
      from pg_attribute
      where attrelid = 'projects'::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'last_activity_at'
    )
  );
end
$$;

create trigger note_activity
after update of last_activity_at on projects for each statement execute function note_table_change('last_activity_at');

-- They record changes of a bulk load with session_replication_role = replica, too.
do $$
declare
  made record;
begin
  for made in
    select t.tgrelid::regclass::text as table_name, t.tgname
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where p.proname = 'note_table_change' and p.pronamespace = current_schema()::regnamespace
  loop
    execute format('alter table %s enable always trigger %I', made.table_name, made.tgname);
  end loop;
end
$$;

insert into table_changes_kept (since, next)
select pg_snapshot_xmin(now), pg_snapshot_xmin(now) from pg_current_snapshot() as now;
