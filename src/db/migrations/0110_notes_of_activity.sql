-- The comment of an entry `commented`. Entries of the previous release get it here, if the comment exists still and has the time of the entry.
alter table feed_events add column note_id bigint;

update feed_events e
set note_id = e.target_id
where e.action = 'commented' and e.target_type = 'Note';

update feed_events e
set note_id = n.id
from notes n
where e.action = 'commented'
  and n.author_id = e.author_id
  and n.created_at = e.created_at
  and not n.system
  and case e.target_type
    when 'Issue' then n.issue_id
    when 'MergeRequest' then n.merge_request_id
    when 'Snippet' then n.snippet_id
    when 'Epic' then n.epic_id
  end = e.target_id;
