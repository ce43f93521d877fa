-- What somebody may see is read from the index alone, without the rows.
alter table group_access drop constraint group_access_pkey, add primary key (user_id, group_id, level) include (expires_on);
alter table project_access drop constraint project_access_pkey, add primary key (user_id, project_id, level) include (expires_on);
