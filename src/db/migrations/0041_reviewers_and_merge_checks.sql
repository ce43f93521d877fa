-- Users who are asked to review a merge request.
create table merge_request_reviewers (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (merge_request_id, user_id)
);
create index merge_request_reviewers_user on merge_request_reviewers (user_id, merge_request_id);

alter table todos drop constraint todos_action_check;
alter table todos add constraint todos_action_check check (
  action in (
    'assigned', 'review_requested', 'mentioned', 'build_failed', 'marked', 'approval_required', 'unmergeable',
    'directly_addressed'
  )
);

-- Whether the source branch lacked commits of the target branch at the last check.
alter table merge_requests add column lacks_target boolean not null default false;
