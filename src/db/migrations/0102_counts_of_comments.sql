-- Records of issues and merge requests have the number of their comments. It is counted in these indexes, without reading the comments.

drop index notes_issue, notes_merge_request;

create index notes_issue on notes (issue_id, created_at, id) include (system) where issue_id is not null;
create index notes_merge_request on notes (merge_request_id, created_at, id) include (system);
