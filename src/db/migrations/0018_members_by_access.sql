-- Members of every origin are listed from the index of access, in the order of their ids.

create index group_access_users on group_access (group_id, user_id, expires_on);
drop index group_access_group;
create index project_access_users on project_access (project_id, user_id, expires_on);
drop index project_access_project;
