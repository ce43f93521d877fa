import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { describedChecks as about } from './params.ts'
import type { PushRuleRow } from './queries.ts'

const expression = (description: string) => nullable(Type.String(), { description })

const fields = {
  commit_message_regex: expression(about.commit_message_regex),
  commit_message_negative_regex: expression(about.commit_message_negative_regex),
  branch_name_regex: expression(about.branch_name_regex),
  author_email_regex: expression(about.author_email_regex),
  file_name_regex: expression(about.file_name_regex),
  deny_delete_tag: Type.Boolean({ description: about.deny_delete_tag }),
  member_check: Type.Boolean({ description: about.member_check }),
  prevent_secrets: Type.Boolean({ description: about.prevent_secrets }),
  max_file_size: Type.Integer({ description: about.max_file_size }),
  commit_committer_check: Type.Optional(
    nullable(Type.Boolean(), { tier: 'premium', description: about.commit_committer_check }),
  ),
  reject_unsigned_commits: Type.Optional(
    nullable(Type.Boolean(), { tier: 'premium', description: about.reject_unsigned_commits }),
  ),
  created_at: timestamp('When the rule was created'),
}

const presentFields = (row: PushRuleRow) => ({
  commit_message_regex: row.commit_message_regex,
  commit_message_negative_regex: row.commit_message_negative_regex,
  branch_name_regex: row.branch_name_regex,
  author_email_regex: row.author_email_regex,
  file_name_regex: row.file_name_regex,
  deny_delete_tag: row.deny_delete_tag,
  member_check: row.member_check,
  prevent_secrets: row.prevent_secrets,
  max_file_size: row.max_file_size,
  commit_committer_check: row.commit_committer_check,
  reject_unsigned_commits: row.reject_unsigned_commits,
  created_at: row.created_at,
})

const id = Type.Integer({ description: 'ID of the push rule' })

export const PushRule = entity({
  name: 'PushRule',
  schema: Type.Object({ id, project_id: Type.Integer({ description: 'ID of the project' }), ...fields }),
  present: (row: PushRuleRow) => ({ id: row.id, project_id: row.project_id!, ...presentFields(row) }),
})

/** A rule that new projects copy: of a group, or of the installation. */
export const PushRuleTemplate = entity({
  name: 'PushRuleTemplate',
  schema: Type.Object({ id, ...fields }),
  present: (row: PushRuleRow) => ({ id: row.id, ...presentFields(row) }),
})
