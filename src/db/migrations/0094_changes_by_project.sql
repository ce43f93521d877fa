-- Changes of some tables are recorded with the projects of the changed rows, so that cached rows of other projects stay exact, and a change
-- of nothing but updated_at, as a new note causes it, apart from other changes of issues and merge requests
-- (docs/adr/0036-changes-by-project.md). The release before takes these tables for untracked: each commit outdates what reads them.

alter table table_changes add column projects bigint[];
comment on column table_changes.projects is 'Projects of all rows that were changed; null if there may be others.';

create function note_change_in_projects() returns trigger language plpgsql as $$
declare
  most constant integer := 32;
  name text := tg_table_name;
  changed bigint[];
  before record;
  after record;
begin
  -- A transaction that has changed nothing has no id.
  if pg_current_xact_id_if_assigned() is null then
    return null;
  end if;
  if tg_op <> 'TRUNCATE' then
    if tg_op = 'INSERT' then
      changed := array(select project_id from new_rows limit most + 1);
    elsif tg_op = 'DELETE' then
      changed := array(select project_id from old_rows limit most + 1);
    else
      changed := array(select project_id from old_rows union all select project_id from new_rows limit most + 1);
      -- One row, as nearly always.
      if tg_nargs > 0 and cardinality(changed) = 2 then
        select * into before from old_rows;
        select * into after from new_rows;
        before.updated_at := after.updated_at;
        if before *= after then
          name := name || '.' || tg_argv[0];
        end if;
      end if;
    end if;
    if changed = '{}' then
      return null;
    end if;
    if cardinality(changed) > most or array_position(changed, null) is not null then
      changed := null;
    end if;
  end if;
  insert into table_changes as known (transaction, relation, projects)
  values (pg_current_xact_id(), name, changed)
  on conflict (transaction, relation) do update
  set projects = case
    when cardinality(known.projects) + cardinality(excluded.projects) <= most then known.projects || excluded.projects
  end
  where known.projects is not null and (excluded.projects is null or not known.projects @> excluded.projects);
  return null;
end
$$;
comment on function note_change_in_projects is 'Argument: the column whose changes are recorded apart, updated_at.';

do $$
declare
  name text;
  made text;
begin
  foreach name in array '{commit_statuses,issue_counts,issues,labels,merge_requests,milestones,notes,pipelines}'::text[] loop
    execute format('drop trigger note_table_change on %I', name);
    execute format(
      'create trigger note_insert after insert on %I referencing new table as new_rows for each statement execute function note_change_in_projects()',
      name
    );
    execute format(
      'create trigger note_update after update on %I referencing old table as old_rows new table as new_rows for each statement execute function note_change_in_projects(%s)',
      name, case when name in ('issues', 'merge_requests') then quote_literal('updated_at') end
    );
    execute format(
      'create trigger note_delete after delete on %I referencing old table as old_rows for each statement execute function note_change_in_projects()',
      name
    );
    execute format(
      'create trigger note_truncate after truncate on %I for each statement execute function note_change_in_projects()',
      name
    );
    -- They record changes of a bulk load with session_replication_role = replica, too.
    foreach made in array '{note_insert,note_update,note_delete,note_truncate}'::text[] loop
      execute format('alter table %I enable always trigger %I', name, made);
    end loop;
  end loop;
end
$$;
