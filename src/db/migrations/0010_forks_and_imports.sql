-- forks_count is the number of direct forks that are not being removed, whatever makes, unlinks or removes one.

create function count_forks() returns trigger language plpgsql as $$
declare
  was bigint;
  now_is bigint;
begin
  if tg_op <> 'INSERT' and not old.deleting then was := old.forked_from_project_id; end if;
  if tg_op <> 'DELETE' and not new.deleting then now_is := new.forked_from_project_id; end if;
  if was is distinct from now_is then
    update projects set forks_count = forks_count - 1 where id = was;
    update projects set forks_count = forks_count + 1 where id = now_is;
  end if;
  return null;
end $$;

create trigger count_forks after insert or delete or update of forked_from_project_id, deleting on projects
  for each row execute function count_forks();

update projects p set forks_count = f.forks
from (select forked_from_project_id as id, count(*) as forks from projects
  where forked_from_project_id is not null and not deleting group by forked_from_project_id) f
where f.id = p.id and p.forks_count <> f.forks;

-- Whatever lowers the visibility of a project lowers its forks, and theirs.

create function lower_forks() returns trigger language plpgsql as $$
begin
  update projects set visibility = new.visibility, updated_at = now()
  where forked_from_project_id = new.id and visibility > new.visibility;
  return null;
end $$;

create trigger lower_forks after update of visibility on projects
  for each row when (new.visibility < old.visibility) execute function lower_forks();

-- Repositories that are being filled from elsewhere: a row from the wish until its end, which the project tells.
create table project_imports (
  project_id bigint primary key references projects on delete cascade,
  -- Who wished it; what he may not read any more is not copied.
  actor_id bigint references users on delete set null,
  -- Of an import by address: that address, sealed (kernel/secrets.ts), since it may hold credentials.
  sealed_url text,
  -- How often it was begun. One that ends the process each time is given up.
  attempts integer not null default 0,
  scheduled_at timestamptz not null default now()
);
create index project_imports_scheduled on project_imports (scheduled_at);
create index project_imports_actor on project_imports (actor_id);

-- What keeps a repository fast, by when it was last done.
create table project_housekeeping (
  project_id bigint primary key references projects on delete cascade,
  -- Pushes so far, and those at the last run of each kind; the more thorough ones count as the lesser.
  pushes bigint not null default 0,
  incremental_at bigint not null default 0,
  full_at bigint not null default 0,
  gc_at bigint not null default 0,
  -- When somebody last asked for it.
  asked_at timestamptz
);

-- The commit that the languages of a project were counted at.
alter table project_statistics add column languages_commit text;
