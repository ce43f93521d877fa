-- Imports from other forges over their APIs, and what is known of an import when it is over.

-- What was imported and what was left out.
create table import_reports (
  project_id bigint primary key references projects on delete cascade,
  -- Where it came from: a value of the setting `import_sources`.
  import_type text not null,
  -- Counts by kind: what was read, and what was stored.
  stats jsonb,
  -- The first things that were left out, each with the reason.
  failed_relations jsonb not null default '[]'
);

-- An import that waits or runs. The row, and with it the token, ends with the import.
create table forge_imports (
  project_id bigint primary key references projects on delete cascade,
  -- The importer, whose rights bound the import.
  user_id bigint not null references users on delete cascade,
  forge text not null check (forge in ('github', 'gitea')),
  -- Address of the forge, without credentials.
  forge_url text not null,
  -- Owner and name there.
  repository text not null,
  -- Encrypted.
  sealed_token text not null,
  -- Each comment list is read for each issue and pull request alone.
  single_endpoint_notes boolean not null default false,
  -- A list that cannot be read is left out; otherwise the import fails.
  optimistic boolean not null default false,
  -- Runs since the last page that was read: an import that never gets further is given up.
  fruitless integer not null default 0,
  created_at timestamptz not null default now()
);
create index forge_imports_user on forge_imports (user_id);
