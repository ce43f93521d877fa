-- How many open projects and groups there are: totals of lists of all projects and groups counted up to 10,001 of them each time.
alter table audience_counts drop constraint audience_counts_type_check;
alter table audience_counts add constraint audience_counts_type_check check (type in ('Group', 'Issue', 'MergeRequest', 'Project'));

create function count_open_projects() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into audience_counts (type, audience, state, number)
    select 'Project', visibility, case when archived then 'archived' else 'active' end, count(*)
    from new_rows where visibility > 0 and not deleting group by visibility, archived;
  else
    insert into audience_counts (type, audience, state, number)
    select 'Project', visibility, case when archived then 'archived' else 'active' end, -count(*)
    from old_rows where visibility > 0 and not deleting group by visibility, archived;
  end if;
  return null;
end
$$;

-- For each row, because most updates change none of these columns.
create function count_changed_project() returns trigger language plpgsql as $$
begin
  insert into audience_counts (type, audience, state, number)
  select 'Project', c.visibility, case when c.archived then 'archived' else 'active' end, c.number
  from (values (old.visibility, old.archived, old.deleting, -1), (new.visibility, new.archived, new.deleting, 1))
    as c (visibility, archived, deleting, number)
  where c.visibility > 0 and not c.deleting;
  return null;
end
$$;

create trigger count_open_added after insert on projects referencing new table as new_rows
for each statement execute function count_open_projects();
create trigger count_open_removed after delete on projects referencing old table as old_rows
for each statement execute function count_open_projects();
create trigger count_open_changed after update on projects
for each row when (
  (old.visibility, old.archived, old.deleting) is distinct from (new.visibility, new.archived, new.deleting)
) execute function count_changed_project();

create function count_open_groups() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into audience_counts (type, audience, state, number)
    select 'Group', visibility, 'active', count(*)
    from new_rows where kind = 'group' and visibility > 0 and not deleting group by visibility;
  else
    insert into audience_counts (type, audience, state, number)
    select 'Group', visibility, 'active', -count(*)
    from old_rows where kind = 'group' and visibility > 0 and not deleting group by visibility;
  end if;
  return null;
end
$$;

create function count_changed_group() returns trigger language plpgsql as $$
begin
  insert into audience_counts (type, audience, state, number)
  select 'Group', c.visibility, 'active', c.number
  from (values (old.kind, old.visibility, old.deleting, -1), (new.kind, new.visibility, new.deleting, 1))
    as c (kind, visibility, deleting, number)
  where c.kind = 'group' and c.visibility > 0 and not c.deleting;
  return null;
end
$$;

create trigger count_open_added after insert on namespaces referencing new table as new_rows
for each statement execute function count_open_groups();
create trigger count_open_removed after delete on namespaces referencing old table as old_rows
for each statement execute function count_open_groups();
create trigger count_open_changed after update on namespaces
for each row when (
  (old.kind, old.visibility, old.deleting) is distinct from (new.kind, new.visibility, new.deleting)
) execute function count_changed_group();

do $$
declare
  made record;
begin
  for made in
    select t.tgrelid::regclass::text as table_name, t.tgname
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where t.tgname like 'count_open_%' and p.pronamespace = current_schema()::regnamespace
  loop
    execute format(
      'comment on trigger %I on %s is %L',
      made.tgname, made.table_name, 'audience_counts has the numbers of open projects and groups, which totals of lists of all of them take from it.'
    );
  end loop;
end
$$;

-- After the triggers, which hold up writers until the migration has committed.
insert into audience_counts (type, audience, state, number)
select 'Project', visibility, case when archived then 'archived' else 'active' end, count(*)
from projects
where visibility > 0 and not deleting
group by visibility, archived
union all
select 'Group', visibility, 'active', count(*)
from namespaces
where kind = 'group' and visibility > 0 and not deleting
group by visibility;
