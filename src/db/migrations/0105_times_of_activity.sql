-- As with times of updates: every comment and push changes the last activity of its project, and while that was in an index, wrote a new entry
-- to all of them, half of a comment's pages in the one of trigrams (docs/adr/0038-times-of-updates.md).

-- What is copied does not change until the triggers are there.
lock table projects in share row exclusive mode;

create table project_activity (
  id bigint not null,
  visibility smallint not null,
  archived boolean not null,
  deleting boolean not null,
  last_activity_at timestamptz not null
);
comment on table project_activity is 'Of each project its last activity, and what lists in that order check. Written by triggers of projects only.';

insert into project_activity (id, visibility, archived, deleting, last_activity_at)
select id, visibility, archived, deleting, last_activity_at from projects;

-- After the rows, which is ten times faster.
alter table project_activity add primary key (id), add foreign key (id) references projects on delete cascade;
create index project_activity_time on project_activity (last_activity_at, id);
create index project_activity_open on project_activity (last_activity_at, id) include (visibility, archived) where visibility > 0 and not deleting;

drop index projects_last_activity_at, projects_open_active;

-- Room on each page for a new version of a row.
alter table projects set (fillfactor = 85);

create function copy_to_activity() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into project_activity (id, visibility, archived, deleting, last_activity_at)
    values (new.id, new.visibility, new.archived, new.deleting, new.last_activity_at);
  else
    update project_activity
    set visibility = new.visibility, archived = new.archived, deleting = new.deleting, last_activity_at = new.last_activity_at
    where id = new.id;
  end if;
  return null;
end
$$;
create trigger copy_to_activity after insert on projects for each row execute function copy_to_activity();
create trigger copy_change_to_activity after update on projects for each row
when (
  (old.visibility, old.archived, old.deleting, old.last_activity_at)
  is distinct from (new.visibility, new.archived, new.deleting, new.last_activity_at)
)
execute function copy_to_activity();

do $$
declare
  columns text;
  name text;
begin
  select string_agg(
    case when c.column_name in ('id', 'visibility', 'archived', 'deleting', 'last_activity_at') then 'u.' else 'p.' end
      || quote_ident(c.column_name),
    ', ' order by c.ordinal_position
  )
  into columns
  from information_schema.columns c
  where c.table_schema = current_schema() and c.table_name = 'projects';
  execute format('create view projects_by_activity as select %s from project_activity u left join projects p on p.id = u.id', columns);
  foreach name in array '{copy_to_activity,copy_change_to_activity}'::text[] loop
    execute format(
      'comment on trigger %I on projects is %L', name,
      'Lists by last activity, of which the table has no index, read a table of these times. It follows what they check.'
    );
  end loop;
end
$$;

analyze project_activity;
