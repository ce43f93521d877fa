import type { Converter } from './converter.ts'
import type { ReferenceTree } from './tree.ts'
import { type Nested, pick, timesOf } from './values.ts'

const approvalFlags = {
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: false,
  disable_overriding_approvers_per_merge_request: false,
  reset_approvals_on_push: true,
  require_password_to_approve: false,
} as const

const pushFlags = { deny_delete_tag: false, member_check: false, prevent_secrets: false } as const

/** Those of the record, or else the defaults. */
const flagsIn = (record: Nested, defaults: Readonly<Record<string, boolean>>): Nested =>
  Object.fromEntries(Object.entries(defaults).map(([name, otherwise]) => [name, record[name] ?? otherwise]))

/** Adds the settings of approvals, which are attributes of the project, the push rule, and custom attributes. */
export async function addRules(to: Converter, tree: ReferenceTree): Promise<void> {
  if (Object.keys(approvalFlags).some((name) => typeof tree.project[name] === 'boolean'))
    await to.add('approval_settings', flagsIn(tree.project, approvalFlags))
  for await (const rule of tree.of('push_rule'))
    await to.add('push_rule', {
      ...flagsIn(rule, pushFlags),
      ...pick(
        rule,
        'commit_message_regex',
        'commit_message_negative_regex',
        'branch_name_regex',
        'author_email_regex',
        'file_name_regex',
        'commit_committer_check',
        'reject_unsigned_commits',
      ),
      max_file_size: rule['max_file_size'] ?? 0,
      ...timesOf(rule),
    })
  for await (const attribute of tree.of('custom_attributes'))
    if (to.takes('custom_attributes')) await to.add('custom_attributes', pick(attribute, 'key', 'value'))
    else to.leaveOut('custom_attributes')
}
