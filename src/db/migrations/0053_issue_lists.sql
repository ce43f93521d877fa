-- The numbers of open issues of a project, which its record shows. A row for each project, so that issues of different projects never
-- wait for each other.
create table issue_counts (
  project_id bigint primary key references projects on delete cascade,
  opened integer not null,
  -- Those of them that are confidential.
  confidential integer not null
)
with (fillfactor = 50);

insert into issue_counts (project_id, opened, confidential)
select project_id, count(*) filter (where state = 'opened'), count(*) filter (where state = 'opened' and confidential)
from issues
group by project_id;

create function count_issues() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    -- A row also for closed issues: later changes update it.
    insert into issue_counts as c (project_id, opened, confidential)
    select project_id, count(*) filter (where a.state = 'opened'),
      count(*) filter (where a.state = 'opened' and a.confidential)
    from added a
    group by project_id
    order by project_id
    on conflict (project_id)
    do update set opened = c.opened + excluded.opened, confidential = c.confidential + excluded.confidential;
  else
    -- Without the row of a project that is being deleted.
    update issue_counts c
    set opened = c.opened - r.opened, confidential = c.confidential - r.confidential
    from (
      select project_id, count(*) as opened, count(*) filter (where confidential) as confidential
      from removed
      where state = 'opened'
      group by project_id
    ) r
    where c.project_id = r.project_id;
  end if;
  return null;
end
$$;
create trigger count_added after insert on issues referencing new table as added
for each statement execute function count_issues();
create trigger count_removed after delete on issues referencing old table as removed
for each statement execute function count_issues();
comment on trigger count_added on issues is 'issue_counts has the numbers of open issues of each project.';
comment on trigger count_removed on issues is 'issue_counts has the numbers of open issues of each project, also after a cascade.';

create function count_changed_issue() returns trigger language plpgsql as $$
declare
  before constant integer := (old.state = 'opened')::integer;
  now_open constant integer := (new.state = 'opened')::integer;
begin
  -- The project first, as when issues are created.
  perform from projects p where p.id = new.project_id for no key update;
  update issue_counts c
  set opened = c.opened + now_open - before,
    confidential = c.confidential + now_open * new.confidential::integer - before * old.confidential::integer
  where c.project_id = new.project_id;
  return null;
end
$$;
create trigger count_changed after update of state, confidential on issues for each row
when (old.state <> new.state or old.confidential <> new.confidential)
execute function count_changed_issue();
comment on trigger count_changed on issues is
  'issue_counts has the numbers of open issues of each project, of which some are confidential.';

-- Lists of many projects add the confidential issues that the caller wrote.
create index issues_confidential_author on issues (author_id) where confidential;

-- Search.
create index notes_search on notes using gin (body gin_trgm_ops) where not system;
create index milestones_search on milestones using gin (title gin_trgm_ops, description gin_trgm_ops);
