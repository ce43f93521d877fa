-- Lists of a member of many private projects read all issues of these, most of them on a page of their own. The indexes now have what the
-- lists check, so that only the rows of the page are read.
drop index issues_project_created;
create index issues_project_created on issues (project_id, created_at, id) include (state, audience, confidential, author_id);
drop index issues_project_updated;
create index issues_project_updated on issues (project_id, updated_at, id) include (state, audience, confidential, author_id);
drop index merge_requests_project_created;
create index merge_requests_project_created on merge_requests (project_id, created_at, id) include (state, audience);
drop index merge_requests_project_updated;
create index merge_requests_project_updated on merge_requests (project_id, updated_at, id) include (state, audience);
