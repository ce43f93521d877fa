-- Lists of issues of all projects by due date or weight: those without come last in both directions, and ties are newest first.
create index issues_due_first on issues (due_date, id desc);
create index issues_due_last on issues (due_date desc nulls last, id desc);
create index issues_weight_first on issues (weight, id desc);
create index issues_weight_last on issues (weight desc nulls last, id desc);
