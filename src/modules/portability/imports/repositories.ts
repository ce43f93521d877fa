import type { Ctx } from '../../../api/ctx.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import type { Ref } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { BundleRefusal, unbundle } from '../../../git/transfer/bundle.ts'
import { repositorySize } from '../../../git/transfer/maintenance.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { initialBranch, projectRepositoryDir } from '../../projects/index.ts'
import { insertUnheld, type SideRepository } from '../../pushes/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'

const limits = { refs: 500_000 }
const mebibyte = 1024 * 1024

/** Fills an empty repository from a bundle of the archive; no refs without one. Throws `ArchiveRefusal`. */
export async function fillFromBundle(
  ctx: Ctx,
  repo: Repository,
  unpacked: Unpacked,
  name: string,
): Promise<readonly Ref[]> {
  const file = unpacked.get(name)
  if (!file) return []
  const refs = await unbundle(repo, file.path, limits).catch((error: unknown) => {
    throw error instanceof BundleRefusal ? new ArchiveRefusal(`${name}: ${error.message}`) : error
  })
  const limit = ctx.settings.repository_size_limit
  if (limit > 0 && planOffers(ctx.plan, 'premium') && (await repositorySize(repo.gitDir)) > limit * mebibyte)
    throw new ArchiveRefusal(`${name}: The repository is larger than the limit of ${limit} MB`)
  return refs
}

/** A filled repository of a wiki or snippet that has no holder yet. */
export type Unheld = { readonly id: number; readonly defaultBranch: string | null; readonly size: number }

/** Fills the repository of a wiki or snippet. If the import ends before it has a holder, a job deletes it. */
export async function fillSide(
  ctx: Ctx,
  kind: 'project_wiki' | 'snippet',
  unpacked: Unpacked,
  name: string,
): Promise<Unheld | undefined> {
  if (!unpacked.has(name)) return undefined
  const row: SideRepository = await insertUnheld(ctx.db, kind)
  const dir = projectRepositoryDir(ctx, row)
  await ctx.git.ensureRepository(dir, { defaultBranch: initialBranch, key: row.repository_key })
  const repo = ctx.git.open(dir, row.repository_key)
  const refs = await fillFromBundle(ctx, repo, unpacked, name)
  const branches = refs.flatMap((ref) => branchName(ref.name) ?? [])
  const defaultBranch = ['master', 'main', ...branches].find((branch) => branches.includes(branch)) ?? null
  if (defaultBranch !== null) await setDefaultBranch(repo, defaultBranch)
  return { id: row.id, defaultBranch, size: await repositorySize(repo.gitDir) }
}

export type SideRepositories = {
  readonly wiki: Unheld | undefined
  /** By the lines of their records. */
  readonly snippets: ReadonlyMap<number, Unheld>
}

/** Fills the repositories of the wiki and of all snippets. */
export async function fillSides(ctx: Ctx, unpacked: Unpacked): Promise<SideRepositories> {
  const wiki = await fillSide(ctx, 'project_wiki', unpacked, entries.wikiEntry)
  const snippets = new Map<number, Unheld>()
  for (const name of unpacked.keys()) {
    const line = Number(/^snippets\/([1-9][0-9]{0,8})\.bundle$/.exec(name)?.[1])
    const filled = Number.isNaN(line) ? undefined : await fillSide(ctx, 'snippet', unpacked, name)
    if (filled) snippets.set(line, filled)
  }
  return { wiki, snippets }
}
