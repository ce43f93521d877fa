import type { Direction, List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, type RowOf, textOf } from '../../../db/row.ts'
import { empty, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { nextNumber } from '../../projects/index.ts'
import { type DeploymentStatus, deploymentColumns, deploymentRow } from '../environments/deployment-queries.ts'
import type { EnvironmentRow } from '../environments/queries.ts'

export const placedRow = {
  ...deploymentRow,
  environment: json<Pick<EnvironmentRow, 'id' | 'name' | 'slug' | 'external_url' | 'tier' | 'state'>>(),
}
export type PlacedRow = RowOf<typeof placedRow>

export const deploymentOrders = ['id', 'iid', 'created_at', 'updated_at', 'ref'] as const

export type DeploymentFilters = {
  readonly environment?: string
  readonly status?: DeploymentStatus
  readonly updated_after?: Date
  readonly updated_before?: Date
  readonly order_by: (typeof deploymentOrders)[number]
  readonly sort: Direction
}

const selected: Sql = sql`
  select ${deploymentColumns},
    json_build_object(
      'id', e.id, 'name', e.name, 'slug', e.slug, 'external_url', e.external_url, 'tier', e.tier, 'state', e.state
    ) as environment
  from deployments d join environments e on e.id = d.environment_id left join users u on u.id = d.user_id
`

export function deploymentsOf(projectId: number, filters: DeploymentFilters): List {
  const where = [sql`d.project_id = ${projectId}`]
  if (filters.environment)
    where.push(
      sql`
        d.environment_id = (
          select id from environments where project_id = ${projectId} and name = ${filters.environment}
        )
      `,
    )
  if (filters.status !== undefined) where.push(sql`d.status = ${filters.status}`)
  if (filters.updated_after !== undefined) where.push(sql`d.updated_at > ${filters.updated_after}`)
  if (filters.updated_before !== undefined) where.push(sql`d.updated_at < ${filters.updated_before}`)
  const direction = filters.sort
  const byId = { by: raw('d.id'), direction }
  return {
    type: 'Deployment',
    select: selected,
    from: raw('from deployments d'),
    where,
    order: filters.order_by === 'id' ? [byId] : [{ by: raw(`d.${filters.order_by}`), direction }, byId],
    keyset: filters.order_by === 'id' ? { direction } : undefined,
  }
}

/** With `lock`, its row is locked until the transaction ends. */
export const findDeployment = (
  db: Db | Tx,
  projectId: number,
  id: number,
  { lock = false }: { lock?: boolean } = {},
): Promise<PlacedRow | undefined> =>
  db.row(
    placedRow,
    sql`${selected} where d.project_id = ${projectId} and d.id = ${id} ${lock ? raw('for no key update of d') : empty}`,
  )

/** The commit of the newest successful deployment to the same environment before this one. */
export const findPreviousCommit = async (db: Db, { id, environment_id }: PlacedRow): Promise<Oid | undefined> =>
  (
    await db.row(
      { sha: textOf<Oid>() },
      sql`
        select d.sha
        from deployments d
        where d.environment_id = ${environment_id} and d.status = 'success' and d.id < ${id}
        order by d.id desc
        limit 1
      `,
    )
  )?.sha

/** Whether it is the newest successful deployment to its environment. */
export const isCurrent = (tx: Tx, { id, environment_id }: PlacedRow): Promise<boolean> =>
  tx.exists(sql`
    select
    where ${id} = (
      select d.id
      from deployments d
      where d.environment_id = ${environment_id} and d.status = 'success'
      order by d.id desc
      limit 1
    )
  `)

export type NewDeployment = {
  readonly projectId: number
  readonly environmentId: number
  readonly sha: Oid
  readonly ref: string
  readonly tag: boolean
  readonly status: DeploymentStatus
  readonly userId: number
}

/** Assigns the next number of the project; returns the id. */
export const insertDeployment = async (
  tx: Tx,
  { projectId, environmentId, sha, ref, tag, status, userId }: NewDeployment,
): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      with number as (${nextNumber('deployments', projectId)})
      insert into deployments (project_id, environment_id, iid, sha, ref, tag, status, user_id)
      select ${projectId}, ${environmentId}, last, ${sha}, ${ref}, ${tag}, ${status}, ${userId}
      from number
      returning id
    `,
  ))!.id

export const setStatus = (tx: Tx, id: number, status: DeploymentStatus): Promise<number> =>
  tx.run(sql`update deployments set status = ${status}, updated_at = now() where id = ${id}`)

export const deleteDeployment = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from deployments where id = ${id}`)
