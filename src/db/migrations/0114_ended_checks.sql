-- A check whose merge request had ended meanwhile did not end: it was shown as `checking` for good. Reads the table once and writes few rows.
update merge_requests
set merge_status = case when state = 'merged' then 'can_be_merged' else 'unchecked' end
where state in ('merged', 'closed') and merge_status = 'checking';
