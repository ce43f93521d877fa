-- What has been mailed, such as a note, so that a job that was interrupted after it queued the mails queues none again.
create table mailed_causes (cause text primary key, created_at timestamptz not null default now());
create index mailed_causes_created_at on mailed_causes (created_at);
