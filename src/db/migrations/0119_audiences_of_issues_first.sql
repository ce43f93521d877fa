-- Triggers run in the order of their names: that of issues first, which others lock before merge requests, too (docs/adr/0041-one-order-of-locks.md).
alter trigger copy_audience on projects rename to copy_audience_to_merge_requests;
