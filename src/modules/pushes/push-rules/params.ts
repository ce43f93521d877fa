import { Flag, Nullable, Optional, Params, Text, Whole } from '../../../api/params/types.ts'

const re2 = 'RE2; null or empty checks nothing'
const inherits = 'null: as the closest group above decides, then the installation; false if none does'

/** What each check refuses, for parameters and records. */
export const describedChecks = {
  deny_delete_tag: 'Refuse to delete tags over git; the API may still delete them',
  member_check: 'Require that author and committer of new commits have the e-mail address of a user',
  prevent_secrets: 'Refuse files whose name suggests a secret, such as private keys',
  commit_message_regex: `Expression that messages of new commits must match (${re2})`,
  commit_message_negative_regex: `Expression that messages of new commits must not match (${re2})`,
  branch_name_regex: `Expression that names of branches must match, except the default branch (${re2})`,
  author_email_regex: `Expression that the addresses of author and committer must match (${re2})`,
  file_name_regex: `Expression that paths of added and renamed files must not match (${re2})`,
  max_file_size: 'Maximum size of new files in MB, without large files (LFS); 0 for no limit',
  commit_committer_check: `Require that the committer is a confirmed e-mail address of the pusher; ${inherits}`,
  reject_unsigned_commits: `Refuse commits without a signature, except those made by the API; ${inherits}`,
} as const

const names = Object.keys(describedChecks) as (keyof typeof describedChecks)[]
const flag = (name: keyof typeof describedChecks) => Optional(Flag({ description: describedChecks[name] }))
const choice = (name: keyof typeof describedChecks) => Optional(Nullable(Flag({ description: describedChecks[name] })))
const expression = (name: keyof typeof describedChecks) =>
  Optional(Nullable(Text({ description: describedChecks[name] })))

export const pushRuleParams = Params(
  {
    deny_delete_tag: flag('deny_delete_tag'),
    member_check: flag('member_check'),
    prevent_secrets: flag('prevent_secrets'),
    commit_message_regex: expression('commit_message_regex'),
    commit_message_negative_regex: expression('commit_message_negative_regex'),
    branch_name_regex: expression('branch_name_regex'),
    author_email_regex: expression('author_email_regex'),
    file_name_regex: expression('file_name_regex'),
    max_file_size: Optional(Whole({ minimum: 0, description: describedChecks.max_file_size })),
    commit_committer_check: choice('commit_committer_check'),
    reject_unsigned_commits: choice('reject_unsigned_commits'),
  },
  { atLeastOneOf: names },
)
