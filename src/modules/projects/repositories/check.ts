import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { isBrokenRef } from '../../../git/refs/ref-files.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { isTemporaryName } from '../../../git/repository/leftovers.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import { fsck } from '../../../git/transfer/maintenance.ts'
import { namesIn } from '../../../kernel/missing.ts'
import { type Located, lostAndFound, projectRepositoryDir, shardsOf } from './location.ts'
import { openRepository } from './open.ts'
import { projectsAfter, removedProjects, saveCheck } from './queries.ts'
import { setAside } from './set-aside.ts'

const page = 500

/** Repositories of one kind, as a check walks them. */
export type CheckedKind<R extends Checked> = {
  /** The folder of each storage that has them. */
  readonly folder: 'projects' | 'side'
  /** For messages: `project`. */
  readonly holder: string
  /** What the number of the last one is of, for messages: `repositories up to project`. */
  readonly walked: string
  /** Those with an id above `after`, in order. */
  readonly after: (after: number, limit: number) => Promise<readonly R[]>
  /** Those that are being deleted with their holders. */
  readonly leaving: () => Promise<readonly Omit<Located, 'repository_key'>[]>
  readonly nameOf: (row: R) => string
  /** Saves whether git found something broken. */
  readonly save: (row: R, failed: boolean) => Promise<unknown>
}

type Checked = Located & { readonly id: number; readonly default_branch: string | null }

/** Checks all repositories of projects, as `checkAll` does. */
export async function checkRepositories(
  ctx: Ctx,
  storages: readonly string[],
  progress: (line: string) => void,
): Promise<string[]> {
  const problems = await checkAll<Checked & { readonly full_path: string }>(ctx, storages, progress, {
    folder: 'projects',
    holder: 'project',
    walked: 'repositories up to project',
    after: (after, limit) => projectsAfter(ctx.db, after, limit),
    leaving: () => removedProjects(ctx.db),
    nameOf: ({ full_path }) => full_path,
    save: ({ id }, failed) => saveCheck(ctx.db, id, failed),
  })
  for (const name of await namesIn(lostAndFound(ctx.repositoriesDir)))
    problems.push(`${join(lostAndFound(ctx.repositoriesDir), name)} was in the place of another repository`)
  return problems
}

/**
 * Runs `git fsck` on every repository of a kind and compares repositories with their holders: missing default branches,
 * repositories without a holder or with another key. Returns one sentence for each problem. Reads all data; run it when load
 * is low.
 */
export async function checkAll<R extends Checked>(
  ctx: Ctx,
  storages: readonly string[],
  progress: (line: string) => void,
  { folder, holder, walked, after, leaving, nameOf, save }: CheckedKind<R>,
): Promise<string[]> {
  const problems: string[] = []
  const known = new Set<string>()
  for (let last = 0; ; ) {
    const rows = await after(last, page)
    if (rows.length === 0) break
    for (const row of rows) {
      last = row.id
      known.add(projectRepositoryDir(ctx, row))
      const { broken, others } = await inspectRepository(ctx, row)
      if (broken) await save(row, broken.length > 0)
      problems.push(...[...(broken ?? []), ...others].map((line) => `${nameOf(row)}: ${line}`))
    }
    progress(`checked ${walked} ${last}`)
  }
  for (const row of await leaving()) known.add(projectRepositoryDir(ctx, row))
  for (const storage of storages)
    problems.push(
      ...(await unownedRepositories(await shardsOf(join(ctx.repositoriesDir, storage), folder), known)).map(
        (path) => `${path} belongs to no ${holder}`,
      ),
    )
  return problems
}

/**
 * Checks one repository: the findings of `git fsck`, undefined if there is nothing to read, and other problems. Moves a
 * repository with another key to lost+found.
 */
async function inspectRepository(
  ctx: Ctx,
  located: Located & { readonly default_branch: string | null },
): Promise<{ readonly broken: readonly string[] | undefined; readonly others: readonly string[] }> {
  const { repository_key: key, default_branch: main } = located
  if (belongingOf(projectRepositoryDir(ctx, located), key) === 'foreign') {
    await setAside(ctx, located)
    return {
      broken: undefined,
      others: ['the repository in its place does not carry its key, and goes to lost+found'],
    }
  }
  const repo = openRepository(ctx, located)
  if (!(await repo.exists())) return { broken: undefined, others: main === null ? [] : ['its repository is missing'] }
  const broken = await fsck(repo)
  const head = main === null ? undefined : branchRef(main)
  const isHeadless = head !== undefined && !isBrokenRef(repo, head) && !(await readRef(repo, head))
  return { broken, others: isHeadless ? [`its default branch ${main} does not exist`] : [] }
}

/** Paths of the repositories in these folders that are not `known`. */
async function unownedRepositories(shards: readonly string[], known: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = []
  for (const shard of shards) {
    for (const name of await readdir(shard)) {
      const path = join(shard, name)
      // A job deletes leftovers of crashes (jobs.ts); a repository that is being imported is beside its place.
      if (!isTemporaryName(name) && !known.has(path.replace(/\.import$/, ''))) found.push(path)
    }
  }
  return found
}
