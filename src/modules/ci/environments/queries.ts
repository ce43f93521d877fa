import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { containing, empty, raw, sql } from '../../../db/sql.ts'
import { type Tier, tiers } from './names.ts'

export const states = ['available', 'stopped'] as const
export type State = (typeof states)[number]

export const environmentRow = {
  id: integer,
  name: text,
  slug: text,
  description: nullable(text),
  external_url: nullable(text),
  tier: oneOf<Tier>(...tiers),
  state: oneOf<State>(...states),
  created_at: timestamp,
  updated_at: timestamp,
}
export type EnvironmentRow = RowOf<typeof environmentRow>

const columns = raw('e.id, e.name, e.slug, e.description, e.external_url, e.tier, e.state, e.created_at, e.updated_at')

export type EnvironmentFilters = { readonly name?: string; readonly search?: string; readonly states?: State }

export const environmentsOf = (projectId: number, { name, search, states: state }: EnvironmentFilters): List => ({
  type: 'Environment',
  select: sql`select ${columns} from environments e`,
  from: raw('from environments e'),
  where: [
    sql`e.project_id = ${projectId}`,
    ...(name ? [sql`e.name = ${name}`] : []),
    ...(search ? [sql`e.name ilike ${containing(search)}`] : []),
    ...(state ? [sql`e.state = ${state}`] : []),
  ],
  order: [{ by: raw('e.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** With `lock`, its row is locked until the transaction ends. */
export const findEnvironment = (
  db: Db | Tx,
  projectId: number,
  id: number,
  { lock = false }: { lock?: boolean } = {},
): Promise<EnvironmentRow | undefined> =>
  db.row(
    environmentRow,
    sql`
      select ${columns}
      from environments e
      where e.project_id = ${projectId} and e.id = ${id} ${lock ? raw('for no key update') : empty}
    `,
  )

/** The ids of available environments without change or deployment since `before`, oldest first, locked. */
export const lockStale = async (tx: Tx, projectId: number, before: Date, limit: number): Promise<number[]> =>
  (
    await tx.rows(
      { id: integer },
      sql`
        select e.id
        from environments e
        where e.project_id = ${projectId}
          and e.state = 'available'
          and e.updated_at < ${before}
          and not exists (select from deployments d where d.environment_id = e.id and d.updated_at >= ${before})
        order by e.id
        limit ${limit}
        for no key update of e
      `,
    )
  ).map(({ id }) => id)

export const findEnvironmentByName = (tx: Tx, projectId: number, name: string): Promise<EnvironmentRow | undefined> =>
  tx.row(
    environmentRow,
    sql`select ${columns} from environments e where e.project_id = ${projectId} and e.name = ${name} for no key update`,
  )

/** Which of a name and a slug other environments of the project have. */
export const takenBy = async (
  tx: Tx,
  projectId: number,
  { id, name, slug }: { id: number; name: string; slug: string },
): Promise<{ name: boolean; slug: boolean }> =>
  (await tx.row(
    { name: boolean, slug: boolean },
    sql`
      select coalesce(bool_or(name = ${name}), false) as name, coalesce(bool_or(slug = ${slug}), false) as slug
      from environments
      where project_id = ${projectId} and id <> ${id} and (name = ${name} or slug = ${slug})
    `,
  ))!

export type EnvironmentValues = {
  readonly name: string
  readonly slug: string
  readonly description: string | null
  readonly external_url: string | null
  readonly tier: Tier
}

export const insertEnvironment = async (
  tx: Tx,
  projectId: number,
  { name, slug, description, external_url, tier }: EnvironmentValues,
): Promise<EnvironmentRow> =>
  (await tx.row(
    environmentRow,
    sql`
      insert into environments as e (project_id, name, slug, description, external_url, tier)
      values (${projectId}, ${name}, ${slug}, ${description}, ${external_url}, ${tier})
      returning ${columns}
    `,
  ))!

export const updateEnvironment = async (
  tx: Tx,
  id: number,
  { name, description, external_url, tier }: Omit<EnvironmentValues, 'slug'>,
): Promise<EnvironmentRow> =>
  (await tx.row(
    environmentRow,
    sql`
      update environments e
      set name = ${name}, description = ${description}, external_url = ${external_url}, tier = ${tier},
        updated_at = now()
      where e.id = ${id}
      returning ${columns}
    `,
  ))!

export const setState = async (tx: Tx, id: number, state: State): Promise<EnvironmentRow> =>
  (await tx.row(
    environmentRow,
    sql`update environments e set state = ${state}, updated_at = now() where e.id = ${id} returning ${columns}`,
  ))!

export const deleteEnvironment = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from environments where id = ${id}`)
