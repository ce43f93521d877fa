import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { isTemporaryName } from '../../../git/repository/leftovers.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import { fsck } from '../../../git/transfer/maintenance.ts'
import { type Located, lostAndFound, projectRepositoryDir, shardsOf } from './location.ts'
import { openRepository } from './open.ts'
import { projectsAfter, removedProjects, saveCheck } from './queries.ts'
import { setAside } from './set-aside.ts'

const page = 500

/**
 * Runs `git fsck` on every repository and compares repositories with projects: missing default branches, repositories
 * without a project or with another key. Returns one sentence for each problem. Reads all data; run it when load is
 * low.
 */
export async function checkRepositories(
  ctx: Ctx,
  storages: readonly string[],
  progress: (line: string) => void,
): Promise<string[]> {
  const problems: string[] = []
  const known = new Set<string>()
  let after = 0
  for (;;) {
    const projects = await projectsAfter(ctx.db, after, page)
    if (projects.length === 0) break
    for (const project of projects) {
      known.add(projectRepositoryDir(ctx, project))
      after = project.id
      const { broken, others } = await inspectRepository(ctx, project)
      problems.push(...[...(broken ?? []), ...others].map((line) => `${project.full_path}: ${line}`))
      if (broken) await saveCheck(ctx.db, project.id, broken.length > 0)
    }
    progress(`checked repositories up to project ${after}`)
  }
  // The repositories of projects that are being deleted are deleted with them.
  for (const project of await removedProjects(ctx.db)) known.add(projectRepositoryDir(ctx, project))
  for (const storage of storages)
    problems.push(
      ...(await unownedRepositories(await shardsOf(join(ctx.repositoriesDir, storage), 'projects'), known)).map(
        (path) => `${path} belongs to no project`,
      ),
    )
  for (const name of await readdir(lostAndFound(ctx.repositoriesDir)).catch(() => []))
    problems.push(`${join(lostAndFound(ctx.repositoriesDir), name)} was in the place of another repository`)
  return problems
}

/**
 * Checks one repository: the findings of `git fsck`, undefined if there is nothing to read, and other problems. Moves a
 * repository with another key to lost+found.
 */
export async function inspectRepository(
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
  const isHeadless = head !== undefined && !(await readRef(repo, head))
  return { broken, others: isHeadless ? [`its default branch ${main} does not exist`] : [] }
}

/** Paths of the repositories in these folders that are not `known`. */
export async function unownedRepositories(shards: readonly string[], known: ReadonlySet<string>): Promise<string[]> {
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
