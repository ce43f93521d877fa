-- Audiences that follow their project are locked in the order of ids, as others do that lock several of these rows (docs/adr/0041-one-order-of-locks.md): an
-- update of many rows locks them in the order in which it finds them.
create or replace function copy_audience_to_issues() returns trigger language plpgsql as $$
declare
  audience_now constant smallint := audience_of_merge_requests(new.visibility, new.issues_access_level, new.deleting);
begin
  with held as materialized (
    select id from issues where project_id = new.id and not confidential and audience <> audience_now
    order by id for no key update
  )
  update issues i set audience = audience_now from held h where i.id = h.id;
  return null;
end
$$;

create or replace function copy_audience_to_merge_requests() returns trigger language plpgsql as $$
declare
  audience_now constant smallint := audience_of_merge_requests(new.visibility, new.merge_requests_access_level, new.deleting);
begin
  with held as materialized (
    select id from merge_requests where project_id = new.id and audience <> audience_now order by id for no key update
  )
  update merge_requests m set audience = audience_now from held h where m.id = h.id;
  return null;
end
$$;
