-- What follows from the options of a push, be it later, has the rights of the access token that was used. No foreign key: a deleted
-- token must not become the account itself. Null: the push used no token, or is of the previous release, which ignores options.
alter table pushes add column token_id bigint;
