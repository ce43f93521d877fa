-- Where blobs are (src/blobs/located.ts), in one row. Without it, they are where STITHY_BLOB_URL says.
create table blob_location (
  only_row boolean primary key default true check (only_row),
  -- The store, as a URL without credentials.
  url text not null,
  -- The store to which blobs are being moved, and which new blobs enter; null if none is moved.
  moving_to text,
  -- The store from which the last move came. The setting may still name it.
  moved_from text,
  -- When it ended. Nothing is collected for a day after it, because the copies of an earlier move may look old.
  moved_at timestamptz
);

-- The objects of stores that cannot rename or compare before they delete (docs/adr/0030). Each object has a key of its own, which is
-- never used again.
create table blob_objects (
  key text primary key,
  -- s3://bucket/prefix
  store text not null,
  -- `uploading` and `leaving` objects may or may not be in the store. A crash may leave them; tidying deletes them.
  state text not null check (state in ('uploading', 'stored', 'leaving')),
  digest text,
  size bigint,
  -- When a stored object was last put, or another one entered its state. Not that of the transaction, which may be older.
  changed_at timestamptz not null default clock_timestamp(),
  check (state <> 'stored' or (digest is not null and size is not null))
);
create unique index blob_objects_stored on blob_objects (store, digest) where state = 'stored';
create index blob_objects_unfinished on blob_objects (store, changed_at) where state <> 'stored';
