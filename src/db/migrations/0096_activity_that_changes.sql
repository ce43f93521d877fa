-- Only an activity that changes is recorded: that of a busy project is updated once in ten seconds.
drop trigger note_activity on projects;
create trigger note_activity
after update of last_activity_at on projects for each row
when (old.last_activity_at is distinct from new.last_activity_at)
execute function note_table_change('last_activity_at');
alter table projects enable always trigger note_activity;
