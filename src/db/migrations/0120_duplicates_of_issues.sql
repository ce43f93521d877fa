-- The issue of which this one was closed as a duplicate.
alter table issues add column duplicated_to_id bigint references issues on delete set null;
create index issues_duplicated_to on issues (duplicated_to_id) where duplicated_to_id is not null;

-- The record of changes compares all columns of a changed issue.
do $$
declare
  compared constant text := 'case when o.moved_to_id is distinct from n.moved_to_id then ''moved_to_id'' end,';
begin
  execute replace(
    pg_get_functiondef('note_change_by_holder'::regproc), compared,
    compared || chr(10) || '            ' || replace(compared, 'moved_to_id', 'duplicated_to_id')
  );
end
$$;

-- The view of issues by the time of their update has all columns of issues, a new one last.
do $$
begin
  execute 'create or replace view issues_by_update as '
    || replace(
      pg_get_viewdef('issues_by_update'::regclass), 'FROM (issue_updates u', ', m.duplicated_to_id FROM (issue_updates u'
    );
end
$$;
