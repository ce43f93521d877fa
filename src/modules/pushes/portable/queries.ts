import {
  author,
  choice,
  flag,
  hex,
  informs,
  level,
  moment,
  orElse,
  orNull,
  participantOrNull,
  partOf,
  supplied,
  whole,
  words,
} from '../../../db/portable/columns.ts'
import { type Amending, heldBy, type PortableRecord, type Relation } from '../../../db/portable/relation.ts'
import { raw, sql } from '../../../db/sql.ts'
import { groupOrder, heldByGroups } from '../../groups/index.ts'
import { saveLargeFilesSize } from '../../projects/index.ts'
import { accessLevels } from '../protected-refs/levels.ts'
import { unusableExpressions } from '../push-rules/service.ts'

const times = { created_at: moment, updated_at: moment }
const pattern = orNull(words(2047))

/**
 * Leaves out access of a group, or of a user who is not found. A list of those who may push, merge or create may become empty, which
 * allows no one; one of those who may unprotect would then allow all maintainers, so it gets administrators instead.
 */
function onlyFound(record: PortableRecord, { lostName, leaveOut }: Amending): PortableRecord | undefined {
  const { user, of_group: ofGroup, action } = record
  if (ofGroup !== true && (typeof user !== 'string' || lostName(user) === undefined)) return record
  if (action !== 'unprotect') return undefined
  leaveOut()
  return { ...record, user: null, access_level: accessLevels.administrators }
}

/** Archives of earlier releases have branches that no one may unprotect, which means the same as administrators. */
const withUnprotectLevel = (record: PortableRecord): PortableRecord =>
  record['action'] === 'unprotect' && record['access_level'] === accessLevels.noOne
    ? { ...record, access_level: accessLevels.administrators }
    : record

/** Leaves out expressions that no request could set: a push that they would check could not be judged. */
function withUsable(record: PortableRecord, { leaveOut }: Amending): PortableRecord {
  const unusable = unusableExpressions(record)
  for (const name of unusable) leaveOut(`push_rule_${name}`)
  return { ...record, ...Object.fromEntries(unusable.map((name) => [name, null])) }
}

const pushRuleColumns = {
  deny_delete_tag: flag,
  member_check: flag,
  prevent_secrets: flag,
  commit_message_regex: pattern,
  commit_message_negative_regex: pattern,
  branch_name_regex: pattern,
  author_email_regex: pattern,
  file_name_regex: pattern,
  max_file_size: whole(),
  commit_committer_check: orNull(flag),
  reject_unsigned_commits: orNull(flag),
  ...times,
}

/** What `pushes` has of a project: protections without the names of groups, the push rule, locks of files. */
export const pushesRelations: readonly Relation[] = [
  {
    name: 'protected_refs',
    ...heldBy('protected_refs'),
    order: ['t.id'],
    columns: {
      kind: choice('branch', 'tag'),
      name: words(1024),
      allow_force_push: orElse(flag, false),
      code_owner_approval_required: orElse(flag, false),
      ...times,
    },
    hasId: true,
    holder: ['project_id'],
  },
  {
    name: 'protected_ref_access',
    table: 'protected_ref_access',
    from: raw('from protected_refs m join protected_ref_access t on t.protected_ref_id = m.id'),
    where: ({ id }) => sql`m.project_id = ${id}`,
    order: ['m.id', 't.id'],
    columns: {
      protected_ref: { ...partOf('protected_refs'), column: 'protected_ref_id' },
      action: choice('push', 'merge', 'unprotect', 'create'),
      access_level: orNull(level(...Object.values(accessLevels))),
      user: { ...participantOrNull, column: 'user_id' },
      of_group: orNull(informs('nullif(t.group_id is not null, false)', flag)),
    },
    amend: (record, amending) => onlyFound(withUnprotectLevel(record), amending),
    repeats: 'skip',
  },
  {
    name: 'push_rule',
    ...heldBy('push_rules'),
    order: ['t.id'],
    columns: pushRuleColumns,
    holder: ['project_id'],
    amend: withUsable,
    // A new project has copied a rule of a group or the installation. That of the archive takes its place, as in a transfer.
    repeats: {
      key: [],
      clause: `on conflict (project_id) where project_id is not null do update set ${Object.keys(pushRuleColumns)
        .map((name) => `${name} = excluded.${name}`)
        .join(', ')}`,
    },
  },
  {
    name: 'file_locks',
    ...heldBy('file_locks'),
    order: ['t.id'],
    columns: {
      path: words(2000, /^.+$/s),
      // Without its lock anyone could change the file. The importer can release it.
      owner: { ...author, column: 'owner_id' },
      created_at: moment,
    },
    holder: ['project_id'],
  },
]

/** What `pushes` has of groups: the rules that new projects below them copy. */
export const pushesOfGroups: readonly Relation[] = [
  {
    name: 'push_rules',
    ...heldByGroups('push_rules'),
    order: groupOrder,
    columns: { group: { ...partOf('groups'), column: 'namespace_id' }, ...pushRuleColumns },
    amend: withUsable,
  },
]

/** Large files, whose bytes are in the archive too. */
export const largeFilesRelation: Relation = {
  name: 'lfs_objects',
  ...heldBy('large_files'),
  order: [{ text: 't.oid' }],
  columns: { oid: hex(64), size: supplied(whole(0, Number.MAX_SAFE_INTEGER)), created_at: moment },
  holder: ['project_id'],
  repeats: 'skip',
  after: ({ id }) => [
    saveLargeFilesSize(id, sql`(select coalesce(sum(size), 0) from large_files where project_id = ${id})`),
  ],
}
