-- The first open ones, or those of another state, in the order of their creation, for an administrator: the first hundreds of thousands may be closed.
-- Other callers have indexes of what is open to all, and of a project. As an expression, because PostgreSQL would combine an index of the column with
-- those of the projects, and read half of it for each.
create index issues_state_created on issues ((state || ''), created_at, id);
create index merge_requests_state_created on merge_requests ((state || ''), created_at, id);

-- Statistics and totals of issues without a milestone, a due date or a weight are counted from an index: each issue was read, 300,000 pages for a million.
-- All of these columns are in other indexes already, so that no update writes more entries.
drop index issues_project_created, issues_open_state_created;
create index issues_project_created on issues (project_id, created_at, id)
include (state, audience, confidential, author_id, milestone_id, due_date, weight);
create index issues_open_state_created on issues (state, created_at, id)
include (audience, confidential, milestone_id, due_date, weight) where audience > 0;

-- How many comments there are, which the statistics of the installation would else count one by one. Each change adds a row, so that no transaction
-- waits for another one; a job adds the rows up.
create table comment_counts (
  -- How many more there are; negative if there are fewer.
  number bigint not null
);

create trigger note_table_change after insert or update or delete or truncate on comment_counts
for each statement execute function note_table_change();
alter table comment_counts enable always trigger note_table_change;

create function count_comments() returns trigger language plpgsql as $$
declare
  more bigint;
begin
  if tg_op = 'INSERT' then
    select count(*) into more from new_rows where not system;
  else
    select -count(*) into more from old_rows where not system;
  end if;
  if more <> 0 then
    insert into comment_counts (number) values (more);
  end if;
  return null;
end
$$;

create trigger count_comments_added after insert on notes referencing new table as new_rows
for each statement execute function count_comments();
create trigger count_comments_removed after delete on notes referencing old table as old_rows
for each statement execute function count_comments();

create function count_changed_comment() returns trigger language plpgsql as $$
begin
  insert into comment_counts (number) values (case when new.system then -1 else 1 end);
  return null;
end
$$;

create trigger count_changed_comment after update of system on notes
for each row when (old.system <> new.system) execute function count_changed_comment();

-- After the triggers, which wait for those who write and keep others from it until the end.
insert into comment_counts (number) select count(*) from notes where not system;

comment on trigger count_comments_added on notes is 'comment_counts has the number of comments, which the statistics of the installation show.';
comment on trigger count_comments_removed on notes is 'comment_counts has the number of comments, also after a cascade.';
comment on trigger count_changed_comment on notes is 'comment_counts has the number of notes that are not of the system.';
-- How many are of a state, as the indexes write it.
analyze issues;
analyze merge_requests;
