-- Lists of issues of many projects by label priority walk an index of a copy.
alter table issues
  -- The lowest of the priorities that labels of the issue have in its project.
  add column label_priority integer;

create function label_priority_of_issue(issue_id bigint, project_id bigint) returns integer language sql stable as $$
  select min(lp.priority)
  from issue_labels il join label_priorities lp on lp.label_id = il.label_id and lp.project_id = $2
  where il.issue_id = $1
$$;

update issues m
set label_priority = label_priority_of_issue(m.id, m.project_id)
where m.id in (
  select il.issue_id
  from label_priorities lp
    join issue_labels il on il.label_id = lp.label_id
    join issues i on i.id = il.issue_id and i.project_id = lp.project_id
);

create index issues_label_priority on issues (label_priority, id desc);
create index issues_priority on issues (milestone_due, label_priority, id desc);

create function set_label_priorities(ids bigint[]) returns void language plpgsql as $$
begin
  -- The lock comes first: the next statement sees the labels and priorities of those who had it before.
  perform from issues m where m.id = any(ids) order by m.id for no key update;
  update issues m
  set label_priority = o.priority
  from (select i.id, label_priority_of_issue(i.id, i.project_id) as priority from issues i where i.id = any(ids)) o
  where m.id = o.id and m.label_priority is distinct from o.priority;
end
$$;

create function follow_labels_of_issues() returns trigger language plpgsql as $$
declare
  ids constant bigint[] := array(select distinct issue_id from changed);
begin
  if ids <> '{}' then
    perform set_label_priorities(ids);
  end if;
  return null;
end
$$;
create trigger follow_added_labels after insert on issue_labels referencing new table as changed
for each statement execute function follow_labels_of_issues();
create trigger follow_removed_labels after delete on issue_labels referencing old table as changed
for each statement execute function follow_labels_of_issues();
comment on trigger follow_added_labels on issue_labels is
  'label_priority of an issue is the lowest priority of its labels; lists are ordered by it.';
comment on trigger follow_removed_labels on issue_labels is
  'label_priority of an issue is the lowest priority of its labels, also after a cascade; lists are ordered by it.';

create function follow_label_priority() returns trigger language plpgsql as $$
declare
  changed constant label_priorities := case tg_op when 'DELETE' then old else new end;
begin
  perform set_label_priorities(array(
    select m.id
    from issues m
    where m.project_id = changed.project_id
      and exists (select from issue_labels il where il.issue_id = m.id and il.label_id = changed.label_id)
  ));
  return null;
end
$$;
create trigger follow_label_priority after insert or update or delete on label_priorities for each row
when (current_setting('stithy.rules', true) is distinct from 'services')
execute function follow_label_priority();
comment on trigger follow_label_priority on label_priorities is
  'Issues have a copy of the lowest priority of their labels, by which lists are ordered.';
