-- Deployments take their numbers as merge requests do, so that the number of a deleted one is not given again.
alter table internal_ids drop constraint internal_ids_what_check;
alter table internal_ids add constraint internal_ids_what_check
  check (what in ('deployments', 'merge_requests', 'milestones'));
insert into internal_ids (project_id, what, last)
select project_id, 'deployments', max(iid) from deployments group by project_id;
