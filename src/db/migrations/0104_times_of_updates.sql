-- Nearly everything that happens to an issue or merge request changes its time of update. While that was in an index, each comment wrote a
-- new entry to all indexes of the row: 85 pages. Now these tables have the time and what lists check, with the indexes by time; an update of
-- the time alone changes one page of the row itself (docs/adr/0038-times-of-updates.md).

-- What is copied does not change until the triggers are there.
lock table issues, merge_requests in share row exclusive mode;

create table issue_updates (
  id bigint not null,
  project_id bigint not null,
  author_id bigint not null,
  state text not null,
  confidential boolean not null,
  audience smallint not null,
  updated_at timestamptz not null
);
comment on table issue_updates is 'Of each issue its time of update, and what lists in that order check. Written by triggers of issues only.';

create table merge_request_updates (
  id bigint not null,
  project_id bigint not null,
  state text not null,
  audience smallint not null,
  updated_at timestamptz not null
);
comment on table merge_request_updates is
  'Of each merge request its time of update, and what lists in that order check. Written by triggers of merge_requests only.';

insert into issue_updates (id, project_id, author_id, state, confidential, audience, updated_at)
select id, project_id, author_id, state, confidential, audience, updated_at from issues;

insert into merge_request_updates (id, project_id, state, audience, updated_at)
select id, project_id, state, audience, updated_at from merge_requests;

-- After the rows, which is ten times faster.
alter table issue_updates add primary key (id), add foreign key (id) references issues on delete cascade;
alter table merge_request_updates add primary key (id), add foreign key (id) references merge_requests on delete cascade;

create index issue_updates_project on issue_updates (project_id, updated_at, id) include (state, audience, confidential, author_id);
create index issue_updates_time on issue_updates (updated_at, id);
create index issue_updates_open on issue_updates (updated_at, id) include (audience, state) where audience > 0;
create index issue_updates_open_state on issue_updates (state, updated_at, id) include (audience) where audience > 0;

create index merge_request_updates_project on merge_request_updates (project_id, updated_at, id) include (state, audience);
create index merge_request_updates_time on merge_request_updates (updated_at, id);
create index merge_request_updates_open on merge_request_updates (updated_at, id) include (audience, state) where audience > 0;
create index merge_request_updates_open_state on merge_request_updates (state, updated_at, id) include (audience) where audience > 0;

drop index issues_project_updated, issues_updated, issues_open_updated, issues_open_state_updated;
drop index merge_requests_project_updated, merge_requests_updated, merge_requests_open_updated, merge_requests_open_state_updated;

-- Room on each page for a new version of a row.
alter table issues set (fillfactor = 85);
alter table merge_requests set (fillfactor = 85);

create function copy_to_updates() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'issues' and tg_op = 'INSERT' then
    insert into issue_updates (id, project_id, author_id, state, confidential, audience, updated_at)
    values (new.id, new.project_id, new.author_id, new.state, new.confidential, new.audience, new.updated_at);
  elsif tg_table_name = 'issues' then
    update issue_updates
    set project_id = new.project_id, author_id = new.author_id, state = new.state, confidential = new.confidential,
      audience = new.audience, updated_at = new.updated_at
    where id = new.id;
  elsif tg_op = 'INSERT' then
    insert into merge_request_updates (id, project_id, state, audience, updated_at)
    values (new.id, new.project_id, new.state, new.audience, new.updated_at);
  else
    update merge_request_updates
    set project_id = new.project_id, state = new.state, audience = new.audience, updated_at = new.updated_at
    where id = new.id;
  end if;
  return null;
end
$$;
create trigger copy_to_updates after insert on issues for each row execute function copy_to_updates();
create trigger copy_change_to_updates after update on issues for each row
when (
  (old.project_id, old.author_id, old.state, old.confidential, old.audience, old.updated_at)
  is distinct from (new.project_id, new.author_id, new.state, new.confidential, new.audience, new.updated_at)
)
execute function copy_to_updates();
create trigger copy_to_updates after insert on merge_requests for each row execute function copy_to_updates();
create trigger copy_change_to_updates after update on merge_requests for each row
when (
  (old.project_id, old.state, old.audience, old.updated_at) is distinct from (new.project_id, new.state, new.audience, new.updated_at)
)
execute function copy_to_updates();

-- The rows of a table with the columns of its updates from there. A list that names no others reads no row of the table itself.
do $$
declare
  of_table text;
  updates text;
  columns text;
  name text;
begin
  foreach of_table in array array['issues', 'merge_requests'] loop
    updates := case of_table when 'issues' then 'issue_updates' else 'merge_request_updates' end;
    select string_agg(
      case when exists (
        select from information_schema.columns u
        where u.table_schema = current_schema() and u.table_name = updates and u.column_name = c.column_name
      ) then 'u.' else 'm.' end || quote_ident(c.column_name),
      ', ' order by c.ordinal_position
    )
    into columns
    from information_schema.columns c
    where c.table_schema = current_schema() and c.table_name = of_table;
    execute format('create view %I as select %s from %I u left join %I m on m.id = u.id', of_table || '_by_update', columns, updates, of_table);
    foreach name in array '{copy_to_updates,copy_change_to_updates}'::text[] loop
      execute format(
        'comment on trigger %I on %I is %L', name, of_table,
        'Lists by time of update, of which the table has no index, read a table of these times. It follows what they check.'
      );
    end loop;
  end loop;
end
$$;

analyze issue_updates;
analyze merge_request_updates;
