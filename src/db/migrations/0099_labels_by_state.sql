-- Lists and totals of issues and merge requests with a label find those of a state in an index, also if few of the label have it.

-- What is copied does not change until the triggers are there.
lock table issues, merge_requests, issue_labels, merge_request_labels in share row exclusive mode;

drop index issue_labels_label, merge_request_labels_label;

alter table issue_labels add column noteable_state text, add column noteable_audience smallint;
alter table merge_request_labels add column noteable_state text, add column noteable_audience smallint;

update issue_labels ml
set noteable_state = m.state, noteable_audience = m.audience
from issues m
where m.id = ml.issue_id;

update merge_request_labels ml
set noteable_state = m.state, noteable_audience = m.audience
from merge_requests m
where m.id = ml.merge_request_id;

alter table issue_labels alter column noteable_state set not null, alter column noteable_audience set not null;
alter table merge_request_labels alter column noteable_state set not null, alter column noteable_audience set not null;

-- Without what the updates leave behind.
cluster issue_labels using issue_labels_pkey;
cluster merge_request_labels using merge_request_labels_pkey;
alter table issue_labels set without cluster;
alter table merge_request_labels set without cluster;

create index issue_labels_label on issue_labels (label_id, noteable_state, noteable_audience, issue_id);
create index merge_request_labels_label on merge_request_labels (label_id, noteable_state, noteable_audience, merge_request_id);

create function copy_to_label() returns trigger language plpgsql as $$
begin
  -- The lock keeps both until the new row is seen by those who change them.
  if tg_table_name = 'issue_labels' then
    select m.state, m.audience into new.noteable_state, new.noteable_audience
    from issues m where m.id = new.issue_id
    for no key update;
  else
    select m.state, m.audience into new.noteable_state, new.noteable_audience
    from merge_requests m where m.id = new.merge_request_id
    for no key update;
  end if;
  if not found then
    raise foreign_key_violation using message = 'the noteable of a label is gone';
  end if;
  return new;
end
$$;
create trigger copy_noteable before insert on issue_labels for each row execute function copy_to_label();
create trigger copy_noteable before insert on merge_request_labels for each row execute function copy_to_label();

-- One column at a time, and none for noteables without labels: each update outdates what is cached with the column.
create function copy_to_labels() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'issues' then
    if not exists (select from issue_labels ml where ml.issue_id = new.id) then
      return null;
    end if;
    if old.state <> new.state then
      update issue_labels set noteable_state = new.state where issue_id = new.id;
    end if;
    if old.audience <> new.audience then
      update issue_labels set noteable_audience = new.audience where issue_id = new.id;
    end if;
  else
    if not exists (select from merge_request_labels ml where ml.merge_request_id = new.id) then
      return null;
    end if;
    if old.state <> new.state then
      update merge_request_labels set noteable_state = new.state where merge_request_id = new.id;
    end if;
    if old.audience <> new.audience then
      update merge_request_labels set noteable_audience = new.audience where merge_request_id = new.id;
    end if;
  end if;
  return null;
end
$$;
create trigger copy_to_labels after update on issues for each row
when (old.state <> new.state or old.audience <> new.audience) execute function copy_to_labels();
create trigger copy_to_labels after update on merge_requests for each row
when (old.state <> new.state or old.audience <> new.audience) execute function copy_to_labels();

-- Records of issues and merge requests do not depend on the copies, which change with each of them that is closed.
do $$
declare
  name text;
  noteable text;
  made record;
begin
  foreach name in array array['issue_labels', 'merge_request_labels'] loop
    noteable := case name when 'issue_labels' then 'issue_id' else 'merge_request_id' end;
    execute format('drop trigger note_table_change on %I', name);
    execute format(
      'create trigger note_table_change after insert or delete or truncate on %I for each statement execute function note_table_change()',
      name
    );
    execute format(
      'create trigger note_update after update of %I, label_id on %I for each statement execute function note_table_change()', noteable, name
    );
    execute format(
      'create trigger note_state after update of noteable_state on %I for each statement execute function note_table_change(%L)',
      name, 'noteable_state'
    );
    execute format(
      'create trigger note_audience after update of noteable_audience on %I for each statement execute function note_table_change(%L)',
      name, 'noteable_audience'
    );
    for made in
      select t.tgname from pg_trigger t join pg_proc p on p.oid = t.tgfoid where t.tgrelid = name::regclass and p.proname = 'note_table_change'
    loop
      execute format('alter table %I enable always trigger %I', name, made.tgname);
    end loop;
    execute format(
      'comment on trigger copy_noteable on %I is %L', name, 'Lists by label find those of a state and audience; the copies follow it.'
    );
  end loop;
  foreach name in array array['issues', 'merge_requests'] loop
    execute format(
      'comment on trigger copy_to_labels on %I is %L', name, 'Lists by label find those of a state and audience, of which labels have copies.'
    );
  end loop;
end
$$;
