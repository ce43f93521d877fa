import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { initialBranch } from '../../projects/index.ts'
import {
  createSideRepository,
  findSideRepository,
  mainRefOf,
  openSideRepository,
  type SideRepository,
} from '../../pushes/index.ts'

/** A project or group with a wiki. */
export type WikiHolder = { readonly of: 'project' | 'group'; readonly id: number }

const sideHolder = ({ of, id }: WikiHolder) => ({ kind: of === 'project' ? 'project_wiki' : 'group_wiki', id }) as const

/** The branch of a wiki, whose first push may have chosen it. */
export const wikiBranch = async (db: Db, holder: WikiHolder): Promise<string> =>
  (await findSideRepository(db, sideHolder(holder)))?.default_branch ?? initialBranch

/** The wiki at the head of its default branch. */
export type OpenWiki = { readonly repo: Repository; readonly branch: string; readonly head: Oid }

/** Opens a wiki for reading; undefined as long as it has no page. */
export async function openWiki(ctx: Ctx, holder: WikiHolder): Promise<OpenWiki | undefined> {
  const row = await findSideRepository(ctx.db, sideHolder(holder))
  if (!row) return undefined
  const repo = openSideRepository(ctx, row)
  const head = await readRef(repo, mainRefOf(row))
  return head && { repo, branch: row.default_branch ?? initialBranch, head }
}

/** The repository of a wiki, created by the first write. */
export const wikiRepository = async (ctx: Ctx, holder: WikiHolder): Promise<SideRepository> =>
  (await findSideRepository(ctx.db, sideHolder(holder))) ??
  (await ctx.transaction((tx) => createSideRepository(tx, sideHolder(holder))))
