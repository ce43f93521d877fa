-- Start of the running check whether a merge request can be merged. A check that failed or was lost is started again after a while.
alter table merge_requests add column checking_since timestamptz;
