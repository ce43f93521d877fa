-- The numbers of closed issues of a project as well, from which totals and statistics of many projects are added up.
alter table issue_counts
  add column closed integer not null default 0,
  -- Those of them that are confidential.
  add column closed_confidential integer not null default 0;

update issue_counts c
set closed = i.closed, closed_confidential = i.confidential
from (
  select project_id, count(*) as closed, count(*) filter (where confidential) as confidential
  from issues
  where state = 'closed'
  group by project_id
) i
where c.project_id = i.project_id;

alter table issue_counts alter column closed drop default, alter column closed_confidential drop default;

create or replace function count_issues() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into issue_counts as c (project_id, opened, confidential, closed, closed_confidential)
    select project_id, count(*) filter (where a.state = 'opened'),
      count(*) filter (where a.state = 'opened' and a.confidential), count(*) filter (where a.state = 'closed'),
      count(*) filter (where a.state = 'closed' and a.confidential)
    from added a
    group by project_id
    order by project_id
    on conflict (project_id)
    do update set opened = c.opened + excluded.opened, confidential = c.confidential + excluded.confidential,
      closed = c.closed + excluded.closed, closed_confidential = c.closed_confidential + excluded.closed_confidential;
  else
    -- Without the row of a project that is being deleted.
    update issue_counts c
    set opened = c.opened - r.opened, confidential = c.confidential - r.confidential, closed = c.closed - r.closed,
      closed_confidential = c.closed_confidential - r.closed_confidential
    from (
      select project_id, count(*) filter (where state = 'opened') as opened,
        count(*) filter (where state = 'opened' and confidential) as confidential,
        count(*) filter (where state = 'closed') as closed,
        count(*) filter (where state = 'closed' and confidential) as closed_confidential
      from removed
      group by project_id
    ) r
    where c.project_id = r.project_id;
  end if;
  return null;
end
$$;
comment on trigger count_added on issues is 'issue_counts has the numbers of issues of each project.';
comment on trigger count_removed on issues is 'issue_counts has the numbers of issues of each project, also after a cascade.';

create or replace function count_changed_issue() returns trigger language plpgsql as $$
declare
  before constant integer := (old.state = 'opened')::integer;
  now_open constant integer := (new.state = 'opened')::integer;
begin
  -- The project first, as when issues are created.
  perform from projects p where p.id = new.project_id for no key update;
  update issue_counts c
  set opened = c.opened + now_open - before,
    confidential = c.confidential + now_open * new.confidential::integer - before * old.confidential::integer,
    closed = c.closed + before - now_open,
    closed_confidential =
      c.closed_confidential + (1 - now_open) * new.confidential::integer - (1 - before) * old.confidential::integer
  where c.project_id = new.project_id;
  return null;
end
$$;
comment on trigger count_changed on issues is
  'issue_counts has the numbers of open and of closed issues of each project, of which some are confidential.';
