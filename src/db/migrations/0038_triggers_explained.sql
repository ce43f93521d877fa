-- Rules that triggers applied are now in services (docs/triggers.md). The previous release still relies on these triggers, and must work
-- with this schema, for example after an upgrade was taken back. It does not set `stithy.rules`; connections of this release set it to
-- `services` (src/db/connection.ts). So the triggers act only for the previous release, and the next release can drop them.

create or replace trigger end_access_request after insert on members
  for each row when (current_setting('stithy.rules', true) is distinct from 'services')
  execute function end_access_request();
comment on trigger end_access_request on members is
  'A new member no longer requests access.';

create or replace trigger take_notification_level before insert on members
  for each row when (current_setting('stithy.rules', true) is distinct from 'services')
  execute function take_notification_level();
comment on trigger take_notification_level on members is
  'A new membership copies the notification level of the user, for records of projects.';

create or replace trigger repeat_notification_level after insert or update of level on notification_settings
  for each row when (current_setting('stithy.rules', true) is distinct from 'services')
  execute function repeat_notification_level();
comment on trigger repeat_notification_level on notification_settings is
  'A changed notification level is copied to the membership.';

create or replace trigger signer_changed after update of email, confirmed_at on users
  for each row when (current_setting('stithy.rules', true) is distinct from 'services'
    and (old.email <> new.email or (old.confirmed_at is null) <> (new.confirmed_at is null)))
  execute function signer_changed();
comment on trigger signer_changed on users is
  'Signatures of a user are verified again when the primary e-mail address changes.';

create or replace trigger signer_email_changed after update of confirmed_at on emails
  for each row when (current_setting('stithy.rules', true) is distinct from 'services')
  execute function signer_email_changed();
comment on trigger signer_email_changed on emails is
  'Signatures of a user are verified again when a further e-mail address is confirmed.';

create or replace trigger signer_email_removed after delete on emails
  for each row when (current_setting('stithy.rules', true) is distinct from 'services' and old.confirmed_at is not null)
  execute function signer_email_changed();
comment on trigger signer_email_removed on emails is
  'Signatures of a user are verified again when a confirmed further e-mail address is deleted.';

create or replace trigger count_topics_of_new_project after insert on projects
  for each row when (current_setting('stithy.rules', true) is distinct from 'services' and new.topics <> '{}')
  execute function count_topics_of_project();
comment on trigger count_topics_of_new_project on projects is
  'A topic has the number of its projects, by visibility. Counts a new project.';

create or replace trigger count_topics_of_gone_project after delete on projects
  for each row when (current_setting('stithy.rules', true) is distinct from 'services' and old.topics <> '{}')
  execute function count_topics_of_project();
comment on trigger count_topics_of_gone_project on projects is
  'A topic has the number of its projects, by visibility. Counts a deleted project out, unless that was done when it was hidden.';

create or replace trigger count_topics_of_project after update of topics, visibility, deleting on projects
  for each row when (current_setting('stithy.rules', true) is distinct from 'services' and (old.topics <> '{}' or new.topics <> '{}'))
  execute function count_topics_of_project();
comment on trigger count_topics_of_project on projects is
  'A topic has the number of its projects, by visibility. Counts a changed project again, and out when it is hidden for deletion.';

-- No code uses browser sessions.
drop trigger end_sessions on users;
drop function end_sessions();
drop table sessions;

-- Invariants that hold for every writer, cascades of foreign keys included.

comment on trigger audit_events_stay on audit_events is
  'Audit rows are immutable; only the retention job deletes them, by age.';
comment on trigger claim_primary_email_of_new on users is
  'The primary address of a new account is claimed, so that no two users have the same e-mail address.';
comment on trigger claim_primary_email on users is
  'A changed primary address is claimed, so that no two users have the same e-mail address.';
comment on trigger claim_secondary_email on emails is
  'A further address is claimed, so that no two users have the same e-mail address.';
comment on trigger deploy_key_projects_gone on deploy_key_projects is
  'A private deploy key exists while a project uses it. Rows also disappear by cascade, with their project.';
comment on trigger touch_shared_project on project_group_links is
  'The row of a project gets a new version, and is_shared, when its shares change, also by cascade; cached records depend on both.';
comment on trigger touch_projects_of_group on namespaces is
  'The rows of projects get a new version when a group with which they are shared changes its name; cached records depend on it.';
comment on trigger count_forks on projects is
  'forks_count is the number of direct forks that are not being deleted. Forks also lose their source by cascade.';
comment on trigger lower_forks on projects is
  'A fork, and a fork of it, is never more visible than its source.';
