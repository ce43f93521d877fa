-- Of several branches that come first to an empty repository, the first one said becomes the default.

alter table ref_changes add column position integer not null default 0;
