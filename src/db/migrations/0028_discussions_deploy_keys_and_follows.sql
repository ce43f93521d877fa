-- What is said about a commit is said in discussions: most of one comment, some of answers, too.
alter table commit_comments
  add column discussion_id text,
  -- Of a discussion that was begun as one. A comment on the whole commit that was not is answered by nothing.
  add column threaded boolean not null default false,
  -- Where in the diff, as it was said: paths, lines of both sides and the commits between which the diff is.
  add column position jsonb,
  add column updated_at timestamptz not null default now();
-- The release before does not say which discussion, and begins one with each comment.
alter table commit_comments
  alter column discussion_id set default left(encode(sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'hex'), 40);
update commit_comments set discussion_id = default, updated_at = created_at;
alter table commit_comments
  alter column discussion_id set not null,
  add check (discussion_id ~ '^[0-9a-f]{40}$'),
  add check (position is null or threaded);
create index commit_comments_discussion on commit_comments (project_id, commit_oid, discussion_id, id);

-- A deploy key of the installation: every project may enable it, and it stays when none does.
alter table ssh_keys
  add column public boolean not null default false,
  add check (not public or user_id is null);
create or replace function delete_unused_deploy_keys() returns trigger language plpgsql as $$
begin
  -- Whoever enables one meanwhile comes first, or finds it gone; the delete then sees what he did.
  perform from ssh_keys where id in (select deploy_key_id from gone) and user_id is null order by id for update;
  delete from ssh_keys k where k.id in (select deploy_key_id from gone) and k.user_id is null and not k.public
    and not exists (select from deploy_key_projects p where p.deploy_key_id = k.id);
  return null;
end
$$;

-- Who wants to know what somebody does.
create table user_follows (
  follower_id bigint not null references users on delete cascade,
  followed_id bigint not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (follower_id, followed_id),
  check (follower_id <> followed_id)
);
create index user_follows_followed on user_follows (followed_id, follower_id);
