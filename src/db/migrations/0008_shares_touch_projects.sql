-- A record of a project shows the groups it is shared with. What changes there writes the project's row anew, so that the
-- row's version alone tells the record's, and reading a page of projects asks for no links at all.

create function touch_shared_project() returns trigger language plpgsql as $$
begin
  update projects set id = id where id in (old.project_id, new.project_id);
  return null;
end $$;

create trigger touch_shared_project after insert or update or delete on project_group_links
  for each row execute function touch_shared_project();

create function touch_projects_of_group() returns trigger language plpgsql as $$
begin
  update projects set id = id where id in (select project_id from project_group_links where group_id = new.id);
  return null;
end $$;

create trigger touch_projects_of_group after update on namespaces
  for each row when ((old.name, old.full_path) is distinct from (new.name, new.full_path))
  execute function touch_projects_of_group();
