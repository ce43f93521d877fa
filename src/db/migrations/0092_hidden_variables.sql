-- Variables whose values no response shows.

alter table variables add column hidden boolean not null default false;
