-- Lists of projects read the open ones in order from these, and merge them with the projects of the caller.
drop index projects_visible;
create index projects_open_id on projects (id) include (visibility, archived) where visibility > 0 and not deleting;
create index projects_open_created on projects (created_at, id) include (visibility, archived) where visibility > 0 and not deleting;
create index projects_open_updated on projects (updated_at, id) include (visibility, archived) where visibility > 0 and not deleting;
create index projects_open_active on projects (last_activity_at, id) include (visibility, archived) where visibility > 0 and not deleting;
create index projects_open_name on projects (name, id) include (visibility, archived) where visibility > 0 and not deleting;
create index projects_open_path on projects (path, id) include (visibility, archived) where visibility > 0 and not deleting;

-- The visibility of the project for users who are not members, 0 if merge requests are for members only. A copy, so that lists over
-- all projects read an index in their order, without a project for each row that the caller cannot see.
alter table merge_requests add column audience smallint not null default 0;

create function audience_of_merge_requests(visibility smallint, level smallint, deleting boolean) returns smallint
language sql immutable parallel safe
return case when level >= 20 and not deleting then visibility else 0 end;

update merge_requests m
set audience = p.visibility
from projects p
where p.id = m.project_id and p.visibility > 0 and audience_of_merge_requests(p.visibility, p.merge_requests_access_level, p.deleting) > 0;

create function set_audience_of_merge_request() returns trigger language plpgsql as $$
begin
  -- The lock keeps the visibility until the new row is seen by those who change it.
  select audience_of_merge_requests(p.visibility, p.merge_requests_access_level, p.deleting) into new.audience
  from projects p where p.id = new.project_id
  for no key update;
  return new;
end
$$;
create trigger set_audience before insert on merge_requests for each row execute function set_audience_of_merge_request();
comment on trigger set_audience on merge_requests is
  'audience is the visibility of the project, 0 if merge requests are for members only; lists select by it.';

create function copy_audience_to_merge_requests() returns trigger language plpgsql as $$
declare
  audience_now constant smallint := audience_of_merge_requests(new.visibility, new.merge_requests_access_level, new.deleting);
begin
  update merge_requests set audience = audience_now where project_id = new.id and audience <> audience_now;
  return null;
end
$$;
create trigger copy_audience after update of visibility, merge_requests_access_level, deleting on projects for each row
when (
  old.visibility <> new.visibility
  or old.merge_requests_access_level <> new.merge_requests_access_level
  or old.deleting <> new.deleting
)
execute function copy_audience_to_merge_requests();
comment on trigger copy_audience on projects is
  'The audience of merge requests follows the visibility of their project, whatever changes it: an edit, a move, a limit of a group above.';

create index merge_requests_open_created on merge_requests (created_at, id) include (audience, state) where audience > 0;
create index merge_requests_open_updated on merge_requests (updated_at, id) include (audience, state) where audience > 0;
create index merge_requests_open_state_created on merge_requests (state, created_at, id) include (audience) where audience > 0;
create index merge_requests_open_state_updated on merge_requests (state, updated_at, id) include (audience) where audience > 0;

create index namespaces_path on namespaces (path, id) where kind = 'group';
