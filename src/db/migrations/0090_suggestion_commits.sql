-- Commits that apply suggestions, from before a branch moves to them until the suggestions are marked as applied.
create table suggestion_commits (
  -- Distinguishes attempts that make the same commit.
  token uuid primary key,
  merge_request_id bigint not null references merge_requests on delete cascade,
  commit_oid text not null,
  suggestion_ids bigint[] not null,
  -- The user who applies them.
  user_id bigint references users on delete set null,
  -- Whether that user may resolve their discussions.
  resolves boolean not null,
  -- The last push to the source project before this attempt: the one that moves the branch to the commit is a later one.
  last_push_id bigint not null,
  created_at timestamptz not null default now()
);
create index suggestion_commits_merge_request on suggestion_commits (merge_request_id);
create index suggestion_commits_user on suggestion_commits (user_id) where user_id is not null;
