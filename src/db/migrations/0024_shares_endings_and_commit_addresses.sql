-- Which of the groups a project is shared with somebody sees depends on who looks. So that only shared projects need ask,
-- their rows say that they are. Shares of one project take turns: the row is locked before they are counted.

alter table projects add column is_shared boolean not null default false;

update projects set is_shared = true where id in (select project_id from project_group_links);

create or replace function touch_shared_project() returns trigger language plpgsql as $$
begin
  perform from projects where id in (old.project_id, new.project_id) order by id for no key update;
  update projects p set is_shared = exists (select from project_group_links l where l.project_id = p.id)
  where id in (old.project_id, new.project_id);
  return null;
end $$;

-- What has ended is cleared away each night, found by its day.
create index project_group_links_expiry on project_group_links (expires_at) where expires_at is not null;
create index group_group_links_expiry on group_group_links (expires_at) where expires_at is not null;
create index group_access_expiry on group_access (expires_on) where expires_on < 'infinity';
create index project_access_expiry on project_access (expires_on) where expires_on < 'infinity';

-- What commits that are made here say: null for the address of the account, `_private` for one that names him and receives
-- nothing, else an address of his own.
alter table users add column commit_email text;
