-- What has been mailed, such as a note, so that a job that was interrupted after it queued the mails queues none again.
create table mailed_causes (cause text primary key, created_at timestamptz not null default now());
create index mailed_causes_created_at on mailed_causes (created_at);

create trigger note_table_change after insert or update or delete or truncate on mailed_causes
for each statement execute function note_table_change();
alter table mailed_causes enable always trigger note_table_change;
