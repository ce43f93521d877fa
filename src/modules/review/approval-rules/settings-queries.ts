import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import {
  type ApprovalSettings,
  approvalDefaults,
  approvalSetting,
  approvalsOfProject,
} from '../merge-requests/approval-queries.ts'

const names = Object.keys(approvalDefaults) as (keyof ApprovalSettings)[]

const settingsRow = {
  merge_requests_author_approval: boolean,
  merge_requests_disable_committers_approval: boolean,
  disable_overriding_approvers_per_merge_request: boolean,
  reset_approvals_on_push: boolean,
  require_password_to_approve: boolean,
  approvals_before_merge: integer,
}
export type ProjectApprovalSettings = ApprovalSettings & { readonly approvals_before_merge: number }

const of = (name: keyof ApprovalSettings) => sql`${approvalSetting(name, raw('p.id'))} as ${raw(name)}`

export const findApprovalSettings = (db: Db, projectId: number): Promise<ProjectApprovalSettings | undefined> =>
  db.row(
    settingsRow,
    sql`
      select ${of('merge_requests_author_approval')}, ${of('merge_requests_disable_committers_approval')},
        ${of('disable_overriding_approvers_per_merge_request')}, ${of('reset_approvals_on_push')},
        ${of('require_password_to_approve')}, ${approvalsOfProject} as approvals_before_merge
      from projects p
      where p.id = ${projectId}
    `,
  )

/** Stores the given settings; the others stay. */
export async function saveApprovalSettings(
  tx: Tx,
  projectId: number,
  settings: Partial<ApprovalSettings>,
): Promise<void> {
  await tx.run(sql`insert into approval_settings (project_id) values (${projectId}) on conflict do nothing`)
  for (const name of names) {
    const value = settings[name]
    if (value === undefined) continue
    await tx.run(sql`update approval_settings set ${raw(name)} = ${value} where project_id = ${projectId}`)
  }
}
