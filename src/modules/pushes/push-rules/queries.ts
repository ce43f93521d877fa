import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type Holder, heldBy, holderIds } from '../../groups/index.ts'

const checks = {
  deny_delete_tag: boolean,
  member_check: boolean,
  prevent_secrets: boolean,
  commit_message_regex: nullable(text),
  commit_message_negative_regex: nullable(text),
  branch_name_regex: nullable(text),
  author_email_regex: nullable(text),
  file_name_regex: nullable(text),
  max_file_size: integer,
}

export const pushRuleRow = {
  id: integer,
  project_id: nullable(integer),
  ...checks,
  commit_committer_check: nullable(boolean),
  reject_unsigned_commits: nullable(boolean),
  created_at: timestamp,
  updated_at: timestamp,
}
export type PushRuleRow = RowOf<typeof pushRuleRow>

/** What callers set. */
export type PushRuleValues = Omit<PushRuleRow, 'id' | 'project_id' | 'created_at' | 'updated_at'>

const columns = raw(`
  r.id, r.project_id, r.deny_delete_tag, r.member_check, r.prevent_secrets, r.commit_message_regex,
  r.commit_message_negative_regex, r.branch_name_regex, r.author_email_regex, r.file_name_regex, r.max_file_size,
  r.commit_committer_check, r.reject_unsigned_commits, r.created_at, r.updated_at
`)

/** The holder's own rule. */
export const findPushRule = (db: Db, holder: Holder): Promise<PushRuleRow | undefined> =>
  db.row(pushRuleRow, sql`select ${columns} from push_rules r where ${heldBy('r', holder)}`)

/** Like `findPushRule`; locks the row. */
export const lockPushRule = (tx: Tx, holder: Holder): Promise<PushRuleRow | undefined> =>
  tx.row(pushRuleRow, sql`select ${columns} from push_rules r where ${heldBy('r', holder)} for update`)

/** `undefined` if the holder has a rule. */
export function insertPushRule(tx: Tx, holder: Holder, values: PushRuleValues): Promise<PushRuleRow | undefined> {
  const { projectId, namespaceId } = holderIds(holder)
  return tx.row(
    pushRuleRow,
    sql`
      insert into push_rules as r (
        project_id, namespace_id, deny_delete_tag, member_check, prevent_secrets, commit_message_regex,
        commit_message_negative_regex, branch_name_regex, author_email_regex, file_name_regex,
        max_file_size, commit_committer_check, reject_unsigned_commits
      )
      values (
        ${projectId}, ${namespaceId}, ${values.deny_delete_tag}, ${values.member_check},
        ${values.prevent_secrets}, ${values.commit_message_regex}, ${values.commit_message_negative_regex},
        ${values.branch_name_regex}, ${values.author_email_regex}, ${values.file_name_regex},
        ${values.max_file_size}, ${values.commit_committer_check}, ${values.reject_unsigned_commits}
      )
      on conflict do nothing
      returning ${columns}
    `,
  )
}

export const updatePushRule = async (tx: Tx, id: number, values: PushRuleValues): Promise<PushRuleRow> =>
  (await tx.row(
    pushRuleRow,
    sql`
      update push_rules r
      set deny_delete_tag = ${values.deny_delete_tag}, member_check = ${values.member_check},
        prevent_secrets = ${values.prevent_secrets}, commit_message_regex = ${values.commit_message_regex},
        commit_message_negative_regex = ${values.commit_message_negative_regex},
        branch_name_regex = ${values.branch_name_regex}, author_email_regex = ${values.author_email_regex},
        file_name_regex = ${values.file_name_regex}, max_file_size = ${values.max_file_size},
        commit_committer_check = ${values.commit_committer_check},
        reject_unsigned_commits = ${values.reject_unsigned_commits}, updated_at = now()
      where r.id = ${id}
      returning ${columns}
    `,
  ))!

/** The id of the deleted rule; `undefined` if there was none. */
export const deletePushRule = async (tx: Tx, holder: Holder): Promise<number | undefined> =>
  (await tx.row({ id: integer }, sql`delete from push_rules r where ${heldBy('r', holder)} returning r.id`))?.id

/** True for rules of the groups above a namespace `n`, and for that of the installation. */
const above = raw('(r.namespace_id = any(n.traversal_ids) or (r.project_id is null and r.namespace_id is null))')

/** The rule of the closest group comes first, that of the installation last. */
const closestFirst = raw('array_position(n.traversal_ids, r.namespace_id) desc nulls last')

/** Gives a new project a copy of the rule of its closest group that has one, or of the installation's. One statement. */
export const copyRuleFromAbove = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`
    insert into push_rules (
      project_id, deny_delete_tag, member_check, prevent_secrets, commit_message_regex,
      commit_message_negative_regex, branch_name_regex, author_email_regex, file_name_regex, max_file_size,
      commit_committer_check, reject_unsigned_commits
    )
    select p.id, r.deny_delete_tag, r.member_check, r.prevent_secrets, r.commit_message_regex,
      r.commit_message_negative_regex, r.branch_name_regex, r.author_email_regex, r.file_name_regex, r.max_file_size,
      r.commit_committer_check, r.reject_unsigned_commits
    from projects p join namespaces n on n.id = p.namespace_id join push_rules r on ${above}
    where p.id = ${projectId}
    order by ${closestFirst}
    limit 1
    on conflict do nothing
  `)

const inherited = (column: 'commit_committer_check' | 'reject_unsigned_commits'): Sql => sql`
  coalesce(
    own.${raw(column)},
    (
      select r.${raw(column)}
      from projects p join namespaces n on n.id = p.namespace_id join push_rules r on ${above}
      where p.id = own.project_id and r.${raw(column)} is not null
      order by ${closestFirst}
      limit 1
    ),
    false
  ) as ${raw(column)}
`

export const enforcedRuleRow = { ...checks, commit_committer_check: boolean, reject_unsigned_commits: boolean }
/** A rule as pushes are checked: what it inherits is filled in. */
export type EnforcedRule = RowOf<typeof enforcedRuleRow>

/** The rule of a project, as pushes are checked. One statement, cached. */
export const findEnforcedRule = async (db: Db, projectId: number): Promise<EnforcedRule | undefined> =>
  (
    await db.snapshotCache.rows(
      enforcedRuleRow,
      byKey(sql`
        select own.deny_delete_tag, own.member_check, own.prevent_secrets, own.commit_message_regex,
          own.commit_message_negative_regex, own.branch_name_regex, own.author_email_regex, own.file_name_regex,
          own.max_file_size, ${inherited('commit_committer_check')}, ${inherited('reject_unsigned_commits')}
        from push_rules own
        where own.project_id = ${projectId}
      `),
    )
  )[0]
