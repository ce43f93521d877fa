-- The issue of which this one was closed as a duplicate.
alter table issues add column duplicated_to_id bigint references issues on delete set null;
create index issues_duplicated_to on issues (duplicated_to_id) where duplicated_to_id is not null;

do $$
declare
  compared constant text := 'case when o.moved_to_id is distinct from n.moved_to_id then ''moved_to_id'' end,';
  columns text;
begin
  -- The record of changes compares all columns of a changed issue.
  execute replace(
    pg_get_functiondef('note_change_by_holder'::regproc), compared,
    compared || chr(10) || '            ' || replace(compared, 'moved_to_id', 'duplicated_to_id')
  );
  -- The view of issues by the time of their update has all of them, too.
  select string_agg(
    case when exists (
      select from information_schema.columns u
      where u.table_schema = current_schema() and u.table_name = 'issue_updates' and u.column_name = c.column_name
    ) then 'u.' else 'm.' end || quote_ident(c.column_name),
    ', ' order by c.ordinal_position
  )
  into columns
  from information_schema.columns c
  where c.table_schema = current_schema() and c.table_name = 'issues';
  execute format('create or replace view issues_by_update as select %s from issue_updates u left join issues m on m.id = u.id', columns);
end
$$;
