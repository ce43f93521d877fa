-- Lists of issues by due date, weight and so on, mostly of the open ones: by state first, as the first closed ones may be hundreds of thousands.
-- A list of both states merges them. As an expression, the state leads PostgreSQL to these indexes only where a condition is written like it: for every
-- other condition on the state, it would read half of one of them.
create index issues_state_due_first on issues ((state || ''), due_date, id desc);
create index issues_state_due_last on issues ((state || ''), due_date desc nulls last, id desc);
create index issues_state_weight_first on issues ((state || ''), weight, id desc);
create index issues_state_weight_last on issues ((state || ''), weight desc nulls last, id desc);
create index issues_state_milestone_due_first on issues ((state || ''), milestone_due, id desc);
create index issues_state_milestone_due_last on issues ((state || ''), milestone_due desc nulls last, id desc);
create index issues_state_label_priority on issues ((state || ''), label_priority, id desc);
create index issues_state_priority on issues ((state || ''), milestone_due, label_priority, id desc);
create index issues_state_placed on issues ((state || ''), relative_position, id desc);
create index issues_state_upvotes_first on issues ((state || ''), upvotes, id desc);
create index issues_state_upvotes_last on issues ((state || ''), upvotes desc, id desc);
drop index
  issues_due, issues_due_first, issues_due_last, issues_weight_first, issues_weight_last, issues_milestone_due_first,
  issues_milestone_due_last, issues_label_priority, issues_priority, issues_placed, issues_upvotes_first, issues_upvotes_last;

-- How many issues of any milestone are open is asked first.
create index issues_milestone_state on issues (milestone_id, state) where milestone_id is not null;
drop index issues_milestone;

-- Whether a milestone is the first of its holder that is due.
create index milestones_project_due on milestones (project_id, due_date, id) where state = 'active' and project_id is not null;
create index milestones_namespace_due on milestones (namespace_id, due_date, id) where state = 'active' and namespace_id is not null;
-- How many issues are of a state, as the indexes write it.
analyze issues;
