-- How many issues and merge requests of open projects there are, which lists and statistics of all projects would else count one by one. Each
-- change adds a row, so that no transaction waits for another one; a job adds the rows up.
create table audience_counts (
  id bigint generated always as identity primary key,
  type text not null check (type in ('Issue', 'MergeRequest')),
  -- As in the tables that are counted; those with 0 are not.
  audience smallint not null check (audience > 0),
  state text not null,
  -- How many more there are; negative if there are fewer.
  number bigint not null
);

insert into audience_counts (type, audience, state, number)
select 'Issue', audience, state, count(*) from issues where audience > 0 group by audience, state
union all
select 'MergeRequest', audience, state, count(*) from merge_requests where audience > 0 group by audience, state;

create trigger note_table_change after insert or update or delete or truncate on audience_counts
for each statement execute function note_table_change();
alter table audience_counts enable always trigger note_table_change;

create function count_audiences() returns trigger language plpgsql as $$
declare
  changed record;
begin
  -- Row by row, because a statement that adds none would outdate cached totals as well. There are two, as a rule.
  if tg_op = 'INSERT' then
    for changed in
      select audience, state, count(*) as number from new_rows where audience > 0 group by audience, state
    loop
      insert into audience_counts (type, audience, state, number) values (tg_argv[0], changed.audience, changed.state, changed.number);
    end loop;
  elsif tg_op = 'DELETE' then
    for changed in
      select audience, state, -count(*) as number from old_rows where audience > 0 group by audience, state
    loop
      insert into audience_counts (type, audience, state, number) values (tg_argv[0], changed.audience, changed.state, changed.number);
    end loop;
  else
    for changed in
      select c.audience, c.state, sum(c.one) as number
      from (
        select audience, state, -1 as one from old_rows where audience > 0
        union all select audience, state, 1 from new_rows where audience > 0
      ) c
      group by c.audience, c.state
      having sum(c.one) <> 0
    loop
      insert into audience_counts (type, audience, state, number) values (tg_argv[0], changed.audience, changed.state, changed.number);
    end loop;
  end if;
  return null;
end
$$;

create trigger count_audiences_added after insert on issues referencing new table as new_rows
for each statement execute function count_audiences('Issue');
create trigger count_audiences_changed after update on issues referencing old table as old_rows new table as new_rows
for each statement execute function count_audiences('Issue');
create trigger count_audiences_removed after delete on issues referencing old table as old_rows
for each statement execute function count_audiences('Issue');
create trigger count_audiences_added after insert on merge_requests referencing new table as new_rows
for each statement execute function count_audiences('MergeRequest');
create trigger count_audiences_changed after update on merge_requests referencing old table as old_rows new table as new_rows
for each statement execute function count_audiences('MergeRequest');
create trigger count_audiences_removed after delete on merge_requests referencing old table as old_rows
for each statement execute function count_audiences('MergeRequest');

do $$
declare
  made record;
begin
  for made in
    select t.tgrelid::regclass::text as table_name, t.tgname
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where p.proname = 'count_audiences' and p.pronamespace = current_schema()::regnamespace
  loop
    execute format(
      'comment on trigger %I on %s is %L',
      made.tgname, made.table_name, 'audience_counts has the numbers by audience and state, which totals of lists over all projects take from it.'
    );
  end loop;
end
$$;
