-- `kind` (0014) says what a token is. This column was never true, and nothing reads it since.
alter table access_tokens drop column impersonation;
