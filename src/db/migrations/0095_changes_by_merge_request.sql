-- Changes of merge requests and of notes are recorded with the merge requests that they concern, so that the cached rows of the others of
-- the project stay exact (docs/adr/0036-changes-by-holder.md). The release before goes on with the projects.

alter table table_changes add column merge_requests bigint[];
comment on column table_changes.merge_requests is 'Of merge_requests, and of notes about some: all that the changed rows concern; null if there may be others.';

create or replace function note_change_by_holder() returns trigger language plpgsql as $$
declare
  most constant integer := 32;
  mostColumns constant integer := 8;
  names text[] := array[tg_table_name];
  changed bigint[];
  -- Null if they are unknown.
  requests bigint[];
  columns text[];
begin
  -- A transaction that has changed nothing has no id.
  if pg_current_xact_id_if_assigned() is null then
    return null;
  end if;
  if tg_op <> 'TRUNCATE' then
    if tg_table_name in ('labels', 'milestones') then
      if tg_op = 'INSERT' then
        changed := array(select coalesce(project_id, -namespace_id) from new_rows limit most + 1);
      elsif tg_op = 'DELETE' then
        changed := array(select coalesce(project_id, -namespace_id) from old_rows limit most + 1);
      else
        changed := array(
          select coalesce(project_id, -namespace_id) from old_rows
          union all select coalesce(project_id, -namespace_id) from new_rows
          limit most + 1
        );
      end if;
    elsif tg_op = 'INSERT' then
      changed := array(select project_id from new_rows limit most + 1);
    elsif tg_op = 'DELETE' then
      changed := array(select project_id from old_rows limit most + 1);
    else
      changed := array(select project_id from old_rows union all select project_id from new_rows limit most + 1);
      -- One row, as nearly always.
      if tg_nargs > 0 and cardinality(changed) = 2 then
        if tg_table_name = 'issues' then
          select array[
            case when o.id is distinct from n.id then 'id' end,
            case when o.iid is distinct from n.iid then 'iid' end,
            case when o.project_id is distinct from n.project_id then 'project_id' end,
            case when o.title is distinct from n.title then 'title' end,
            case when o.description is distinct from n.description then 'description' end,
            case when o.author_id is distinct from n.author_id then 'author_id' end,
            case when o.state is distinct from n.state then 'state' end,
            case when o.confidential is distinct from n.confidential then 'confidential' end,
            case when o.discussion_locked is distinct from n.discussion_locked then 'discussion_locked' end,
            case when o.milestone_id is distinct from n.milestone_id then 'milestone_id' end,
            case when o.due_date is distinct from n.due_date then 'due_date' end,
            case when o.weight is distinct from n.weight then 'weight' end,
            case when o.time_estimate is distinct from n.time_estimate then 'time_estimate' end,
            case when o.relative_position is distinct from n.relative_position then 'relative_position' end,
            case when o.closed_at is distinct from n.closed_at then 'closed_at' end,
            case when o.closed_by_id is distinct from n.closed_by_id then 'closed_by_id' end,
            case when o.moved_to_id is distinct from n.moved_to_id then 'moved_to_id' end,
            case when o.audience is distinct from n.audience then 'audience' end,
            case when o.created_at is distinct from n.created_at then 'created_at' end,
            case when o.updated_at is distinct from n.updated_at then 'updated_at' end,
            case when o.due_mailed_for is distinct from n.due_mailed_for then 'due_mailed_for' end,
            case when o.milestone_due is distinct from n.milestone_due then 'milestone_due' end,
            case when o.upvotes is distinct from n.upvotes then 'upvotes' end,
            case when o.label_priority is distinct from n.label_priority then 'label_priority' end
          ]
          into columns
          from old_rows o, new_rows n;
        elsif tg_table_name = 'merge_requests' then
          select array[
            case when o.id is distinct from n.id then 'id' end,
            case when o.iid is distinct from n.iid then 'iid' end,
            case when o.project_id is distinct from n.project_id then 'project_id' end,
            case when o.target_branch is distinct from n.target_branch then 'target_branch' end,
            case when o.source_project_id is distinct from n.source_project_id then 'source_project_id' end,
            case when o.source_branch is distinct from n.source_branch then 'source_branch' end,
            case when o.title is distinct from n.title then 'title' end,
            case when o.description is distinct from n.description then 'description' end,
            case when o.author_id is distinct from n.author_id then 'author_id' end,
            case when o.state is distinct from n.state then 'state' end,
            case when o.merge_status is distinct from n.merge_status then 'merge_status' end,
            case when o.merge_status_source_oid is distinct from n.merge_status_source_oid then 'merge_status_source_oid' end,
            case when o.merge_status_target_oid is distinct from n.merge_status_target_oid then 'merge_status_target_oid' end,
            case when o.merge_error is distinct from n.merge_error then 'merge_error' end,
            case when o.milestone_id is distinct from n.milestone_id then 'milestone_id' end,
            case when o.discussion_locked is distinct from n.discussion_locked then 'discussion_locked' end,
            case when o.squash is distinct from n.squash then 'squash' end,
            case when o.allow_collaboration is distinct from n.allow_collaboration then 'allow_collaboration' end,
            case when o.force_remove_source_branch is distinct from n.force_remove_source_branch then 'force_remove_source_branch' end,
            case when o.should_remove_source_branch is distinct from n.should_remove_source_branch then 'should_remove_source_branch' end,
            case when o.approvals_before_merge is distinct from n.approvals_before_merge then 'approvals_before_merge' end,
            case when o.auto_merge_user_id is distinct from n.auto_merge_user_id then 'auto_merge_user_id' end,
            case when o.auto_merge_oid is distinct from n.auto_merge_oid then 'auto_merge_oid' end,
            case when o.auto_merge_options is distinct from n.auto_merge_options then 'auto_merge_options' end,
            case when o.rebasing is distinct from n.rebasing then 'rebasing' end,
            case when o.merging is distinct from n.merging then 'merging' end,
            case when o.diff_id is distinct from n.diff_id then 'diff_id' end,
            case when o.merge_commit_oid is distinct from n.merge_commit_oid then 'merge_commit_oid' end,
            case when o.squash_commit_oid is distinct from n.squash_commit_oid then 'squash_commit_oid' end,
            case when o.merged_by_id is distinct from n.merged_by_id then 'merged_by_id' end,
            case when o.merged_at is distinct from n.merged_at then 'merged_at' end,
            case when o.closed_by_id is distinct from n.closed_by_id then 'closed_by_id' end,
            case when o.closed_at is distinct from n.closed_at then 'closed_at' end,
            case when o.time_estimate is distinct from n.time_estimate then 'time_estimate' end,
            case when o.created_at is distinct from n.created_at then 'created_at' end,
            case when o.updated_at is distinct from n.updated_at then 'updated_at' end,
            case when o.collaboration_user_id is distinct from n.collaboration_user_id then 'collaboration_user_id' end,
            case when o.lacks_target is distinct from n.lacks_target then 'lacks_target' end,
            case when o.checking_since is distinct from n.checking_since then 'checking_since' end,
            case when o.audience is distinct from n.audience then 'audience' end
          ]
          into columns
          from old_rows o, new_rows n;
        end if;
        columns := array_remove(columns, null);
        if columns = '{}' then
          names := array[tg_table_name || '.xmin'];
        elsif cardinality(columns) <= mostColumns then
          names := array(select tg_table_name || '.' || each from unnest(columns) as each);
        end if;
      end if;
    end if;
    if changed = '{}' then
      return null;
    end if;
    if tg_table_name in ('merge_requests', 'notes') and cardinality(changed) <= most then
      if tg_op = 'INSERT' and tg_table_name = 'notes' then
        requests := array(select merge_request_id from new_rows where merge_request_id is not null);
      elsif tg_op = 'INSERT' then
        requests := array(select id from new_rows);
      elsif tg_op = 'DELETE' and tg_table_name = 'notes' then
        requests := array(select merge_request_id from old_rows where merge_request_id is not null);
      elsif tg_op = 'DELETE' then
        requests := array(select id from old_rows);
      elsif tg_table_name = 'notes' then
        requests := array(
          select merge_request_id from old_rows where merge_request_id is not null
          union select merge_request_id from new_rows where merge_request_id is not null
        );
      else
        requests := array(select id from old_rows union select id from new_rows);
      end if;
    end if;
    if cardinality(changed) > most or array_position(changed, null) is not null then
      changed := null;
    end if;
  end if;
  insert into table_changes as known (transaction, relation, holders, merge_requests)
  select pg_current_xact_id(), each, changed, requests from unnest(names) as each
  on conflict (transaction, relation) do update
  set
    holders = case
      when known.holders @> excluded.holders then known.holders
      when cardinality(known.holders) + cardinality(excluded.holders) <= most then known.holders || excluded.holders
    end,
    merge_requests = case
      when known.merge_requests @> excluded.merge_requests then known.merge_requests
      when cardinality(known.merge_requests) + cardinality(excluded.merge_requests) <= most then known.merge_requests || excluded.merge_requests
    end
  where (known.holders is not null and (excluded.holders is null or not known.holders @> excluded.holders))
    or (
      known.merge_requests is not null
      and (excluded.merge_requests is null or not known.merge_requests @> excluded.merge_requests)
    );
  return null;
end
$$;
