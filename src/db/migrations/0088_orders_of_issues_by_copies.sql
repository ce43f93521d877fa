-- Lists of issues of many projects by due date of the milestone, by popularity and by position walk an index. Issues have copies of
-- what others own: triggers set them when the issue, its milestone or its awards change, by cascade too. A new due date of a milestone is
-- copied by the service, in batches.
alter table issues
  -- The due date of the milestone.
  add column milestone_due date,
  -- The number of `thumbsup` awards of the issue itself.
  add column upvotes integer not null default 0;

update issues m
set milestone_due = o.due_date, upvotes = o.upvotes
from (
  select i.id, ms.due_date, coalesce(a.upvotes, 0) as upvotes
  from issues i
    left join milestones ms on ms.id = i.milestone_id
    left join (
      select issue_id, count(*)::integer as upvotes
      from award_emoji
      where issue_id is not null and note_id is null and name = 'thumbsup'
      group by issue_id
    ) a on a.issue_id = i.id
  where ms.due_date is not null or a.upvotes > 0
) o
where m.id = o.id;

create index issues_milestone_due_first on issues (milestone_due, id desc);
create index issues_milestone_due_last on issues (milestone_due desc nulls last, id desc);
create index issues_upvotes_first on issues (upvotes, id desc);
create index issues_upvotes_last on issues (upvotes desc, id desc);
create index issues_placed on issues (relative_position, id desc);

create function set_milestone_due() returns trigger language plpgsql as $$
begin
  -- The lock keeps the due date until the new row is seen by those who change it.
  select ms.due_date into new.milestone_due from milestones ms where ms.id = new.milestone_id for share;
  return new;
end
$$;
create trigger set_milestone_due before insert on issues for each row when (new.milestone_id is not null)
execute function set_milestone_due();
comment on trigger set_milestone_due on issues is
  'milestone_due is the due date of the milestone; lists are ordered by it. Sets it for a new issue.';
create trigger set_milestone_due_of_changed before update of milestone_id on issues for each row
when (old.milestone_id is distinct from new.milestone_id)
execute function set_milestone_due();
comment on trigger set_milestone_due_of_changed on issues is
  'milestone_due is the due date of the milestone; lists are ordered by it. Sets it when the milestone is replaced or deleted.';

create function count_upvotes() returns trigger language plpgsql as $$
declare
  change constant integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  update issues m
  set upvotes = m.upvotes + change * c.awards
  from (
    select issue_id, count(*)::integer as awards
    from changed
    where issue_id is not null and note_id is null and name = 'thumbsup'
    group by issue_id
  ) c
  where m.id = c.issue_id;
  return null;
end
$$;
create trigger count_upvotes after insert on award_emoji referencing new table as changed
for each statement execute function count_upvotes();
create trigger count_removed_upvotes after delete on award_emoji referencing old table as changed
for each statement execute function count_upvotes();
comment on trigger count_upvotes on award_emoji is
  'upvotes of an issue is the number of its thumbsup awards; lists are ordered by it.';
comment on trigger count_removed_upvotes on award_emoji is
  'upvotes of an issue is the number of its thumbsup awards, also after a cascade; lists are ordered by it.';

create function copy_milestone_due() returns trigger language plpgsql as $$
begin
  update issues set milestone_due = new.due_date where milestone_id = new.id;
  return null;
end
$$;
create trigger copy_milestone_due after update of due_date on milestones for each row
when (
  current_setting('stithy.rules', true) is distinct from 'services'
  and old.due_date is distinct from new.due_date
)
execute function copy_milestone_due();
comment on trigger copy_milestone_due on milestones is
  'Issues have a copy of the due date of their milestone, by which lists are ordered.';
