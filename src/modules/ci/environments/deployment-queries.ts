import type { Db } from '../../../db/db.ts'
import { boolean, integer, json, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'

export const deploymentStatuses = ['created', 'running', 'success', 'failed', 'canceled'] as const
export type DeploymentStatus = (typeof deploymentStatuses)[number]

/** A deployment without its environment. */
export const deploymentRow = {
  id: integer,
  iid: integer,
  environment_id: integer,
  sha: text,
  ref: text,
  tag: boolean,
  status: oneOf<DeploymentStatus>(...deploymentStatuses),
  created_at: timestamp,
  updated_at: timestamp,
  /** Null if the account is gone. */
  user: nullable(json<UserReferenceRow>()),
}
export type DeploymentRow = RowOf<typeof deploymentRow>

/** Columns of a row with the alias `d`, with its user `u`. */
export const deploymentColumns = sql`
  d.id, d.iid, d.environment_id, d.sha, d.ref, d.tag, d.status, d.created_at, d.updated_at,
  case when u.id is not null then ${userReferenceJson('u')} end as user
`

/** The newest successful deployment to an environment. */
export const findLastDeployment = (db: Db, environmentId: number): Promise<DeploymentRow | undefined> =>
  db.row(
    deploymentRow,
    sql`
      select ${deploymentColumns}
      from deployments d ${raw('left join users u on u.id = d.user_id')}
      where d.environment_id = ${environmentId} and d.status = 'success'
      order by d.id desc
      limit 1
    `,
  )
