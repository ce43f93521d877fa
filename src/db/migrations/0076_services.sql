-- Services of projects, such as a chat, receive events as hooks do: a row of `hooks` with the name of the service.
alter table hooks
  -- The slug, such as `slack`; null for hooks.
  add column service text,
  -- Settings of the service besides its flags; null for hooks.
  add column properties jsonb,
  -- Services that send mails have no URL.
  alter column sealed_url drop not null,
  add check ((service is null) = (properties is null)),
  add check (service is null or project_id is not null),
  add check (service is not null or sealed_url is not null);
create unique index hooks_service on hooks (project_id, service) where service is not null;

-- Who the mail is shown to be from, as name and address; null for the installation.
alter table mails add column sender jsonb;
