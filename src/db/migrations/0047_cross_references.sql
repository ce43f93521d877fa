-- The text or commit in which a system note says that its merge request is mentioned. Only users who can read it see the note.
alter table notes add column source_project_id bigint references projects on delete cascade;
alter table notes add column source_merge_request_id bigint references merge_requests on delete cascade;
alter table notes add column source_commit text;
alter table notes add constraint notes_source check (
  case
    when source_project_id is null then source_merge_request_id is null and source_commit is null
    else system and num_nonnulls(source_merge_request_id, source_commit) = 1
  end
) not valid;
alter table notes validate constraint notes_source;
create index notes_source_project on notes (source_project_id) where source_project_id is not null;
-- Each source is mentioned once.
create unique index notes_source_merge_request on notes (source_merge_request_id, merge_request_id)
where source_merge_request_id is not null;
create unique index notes_source_commit on notes (merge_request_id, source_project_id, source_commit)
where source_commit is not null;
