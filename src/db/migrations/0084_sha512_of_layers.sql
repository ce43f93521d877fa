-- Clients may name layers by their SHA-512 digest; the blob store names all bytes by their SHA-256 digest.
alter table container_blobs
  -- SHA-256 of the bytes if `digest` is SHA-512; null if `digest` is SHA-256.
  add column stored_as text,
  add constraint container_blobs_stored_as check ((length(digest) = 64) = (stored_as is null));
create index container_blobs_stored_as on container_blobs (stored_as) where stored_as is not null;
