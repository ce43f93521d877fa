-- Rules for approvals that hold in all projects below a group.
alter table approval_rules
  add column group_id bigint references namespaces on delete cascade,
  drop constraint approval_rules_check,
  add constraint approval_rules_holder check (num_nonnulls(project_id, merge_request_id, group_id) = 1);
create unique index approval_rules_group on approval_rules (group_id, name) where group_id is not null;
create unique index approval_rules_any_of_group on approval_rules (group_id)
where rule_type = 'any_approver' and group_id is not null;
