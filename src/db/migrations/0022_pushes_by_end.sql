-- A push is settled by comparing it with those that ended after it began: not with all there ever were.
create index pushes_finished on pushes (project_id, finished_at);
