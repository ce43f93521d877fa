-- Whose unfinished uploads these are, for the limits on them (access/share-key.ts). Null for those that began before.
alter table container_uploads add column share_key text;
create index container_uploads_share on container_uploads (share_key, updated_at desc) where share_key is not null;
