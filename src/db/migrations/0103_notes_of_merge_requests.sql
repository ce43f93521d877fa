-- Most notes are on issues. These indexes had an entry for each of them: two thirds of a gigabyte for five million, and two more to write.

drop index notes_discussion, notes_merge_request;

create index notes_discussion on notes (merge_request_id, discussion_id, id) where merge_request_id is not null;
create index notes_merge_request on notes (merge_request_id, created_at, id) include (system) where merge_request_id is not null;
