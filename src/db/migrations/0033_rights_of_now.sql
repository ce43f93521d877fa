-- The user who lets those who merge push to the source branch. It counts only while they may push there themselves.
alter table merge_requests add column collaboration_user_id bigint references users on delete set null;
create index merge_requests_collaboration on merge_requests (collaboration_user_id) where collaboration_user_id is not null;
-- Until now any user who could edit a merge request could set it, and the row does not say which user did.
update merge_requests set allow_collaboration = false where allow_collaboration;

-- Settings that promised a protection which the product does not have. They can no longer be switched on.
update application_settings set values = values - array[
  'external_authorization_service_enabled', 'captcha_enabled', 'login_captcha_protection_enabled', 'spam_filter_enabled',
  'check_namespace_plan'];
