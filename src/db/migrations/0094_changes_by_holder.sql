-- Changes of some tables are recorded with the projects and groups of the changed rows, so that cached rows of others stay exact, and changes of
-- issues and merge requests by the columns that they change (docs/adr/0036-changes-by-holder.md). The release before takes these tables for
-- untracked: each commit outdates what reads them.

alter table table_changes add column holders bigint[];
comment on column table_changes.holders is 'Projects of all rows that were changed, and groups as negative numbers; null if there may be others.';

create function note_change_by_holder() returns trigger language plpgsql as $$
declare
  most constant integer := 32;
  mostColumns constant integer := 8;
  names text[] := array[tg_table_name];
  changed bigint[];
  before record;
  after record;
  old_values jsonb;
  columns text[];
begin
  -- A transaction that has changed nothing has no id.
  if pg_current_xact_id_if_assigned() is null then
    return null;
  end if;
  if tg_op <> 'TRUNCATE' then
    if tg_table_name in ('labels', 'milestones') then
      if tg_op = 'INSERT' then
        changed := array(select coalesce(project_id, -namespace_id) from new_rows limit most + 1);
      elsif tg_op = 'DELETE' then
        changed := array(select coalesce(project_id, -namespace_id) from old_rows limit most + 1);
      else
        changed := array(
          select coalesce(project_id, -namespace_id) from old_rows
          union all select coalesce(project_id, -namespace_id) from new_rows
          limit most + 1
        );
      end if;
    elsif tg_op = 'INSERT' then
      changed := array(select project_id from new_rows limit most + 1);
    elsif tg_op = 'DELETE' then
      changed := array(select project_id from old_rows limit most + 1);
    else
      changed := array(select project_id from old_rows union all select project_id from new_rows limit most + 1);
      -- One row, as nearly always.
      if tg_nargs > 0 and cardinality(changed) = 2 then
        select * into before from old_rows;
        select * into after from new_rows;
        if before *= after then
          names := array[tg_table_name || '.xmin'];
        else
          old_values := to_jsonb(before);
          columns := array(
            select each.key from jsonb_each(to_jsonb(after)) as each where each.value is distinct from old_values -> each.key
          );
          if cardinality(columns) between 1 and mostColumns then
            names := array(select tg_table_name || '.' || each from unnest(columns) as each);
          end if;
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
  insert into table_changes as known (transaction, relation, holders)
  select pg_current_xact_id(), each, changed from unnest(names) as each
  on conflict (transaction, relation) do update
  set holders = case
    when cardinality(known.holders) + cardinality(excluded.holders) <= most then known.holders || excluded.holders
  end
  where known.holders is not null and (excluded.holders is null or not known.holders @> excluded.holders);
  return null;
end
$$;
comment on function note_change_by_holder is 'With an argument, updates are recorded by column; one that changes no value by xmin.';

do $$
declare
  name text;
  made text;
begin
  foreach name in array '{commit_statuses,issue_counts,issues,labels,merge_requests,milestones,notes,pipelines}'::text[] loop
    execute format('drop trigger note_table_change on %I', name);
    execute format(
      'create trigger note_insert after insert on %I referencing new table as new_rows for each statement execute function note_change_by_holder()',
      name
    );
    execute format(
      'create trigger note_update after update on %I referencing old table as old_rows new table as new_rows for each statement execute function note_change_by_holder(%s)',
      name, case when name in ('issues', 'merge_requests') then quote_literal('by column') end
    );
    execute format(
      'create trigger note_delete after delete on %I referencing old table as old_rows for each statement execute function note_change_by_holder()',
      name
    );
    execute format(
      'create trigger note_truncate after truncate on %I for each statement execute function note_change_by_holder()',
      name
    );
    -- They record changes of a bulk load with session_replication_role = replica, too.
    foreach made in array '{note_insert,note_update,note_delete,note_truncate}'::text[] loop
      execute format('alter table %I enable always trigger %I', name, made);
    end loop;
  end loop;
end
$$;
