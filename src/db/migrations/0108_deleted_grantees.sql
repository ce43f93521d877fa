-- An empty list of those who may unprotect means all maintainers: a list that names only accounts and groups that are deleted must not become it.
create function close_unprotecting() returns trigger language plpgsql as $$
begin
  if exists (select from users where id = old.user_id) or exists (select from namespaces where id = old.group_id) then
    return null;
  end if;
  -- Deletions of several take turns, and each then sees the grants that the others left. Without a row, the protection is deleted itself.
  perform from protected_refs where id = old.protected_ref_id for no key update;
  if found and not exists (
    select from protected_ref_access where protected_ref_id = old.protected_ref_id and action = 'unprotect'
  ) then
    insert into protected_ref_access (protected_ref_id, action, access_level) values (old.protected_ref_id, 'unprotect', 60);
  end if;
  return null;
end
$$;
create trigger close_unprotecting after delete on protected_ref_access for each row
when (old.action = 'unprotect' and old.access_level is null)
execute function close_unprotecting();
comment on trigger close_unprotecting on protected_ref_access is
  'A protection that names who may unprotect does not become one that every maintainer may remove: once all of them are deleted, also by a cascade, administrators may.';
