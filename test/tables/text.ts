import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { type Computed, change, find } from './statements.ts'

export const changeSnippet = (
  world: World,
  id: number,
  values: { readonly author_id?: number } | { readonly created_at?: Computed },
) => change(world, 'snippets', { id }, values)

/** Makes a snippet private, in a transaction. */
export const hideSnippet = (tx: Tx, id: number) => tx.run(sql`update snippets set visibility = 0 where id = ${id}`)

/** The snippets of a project, complete or not. */
export const snippetIds = (world: World, project_id: number) => find(world, 'snippets', { project_id }, ['id'], 'id')
