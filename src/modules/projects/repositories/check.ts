import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { isTemporaryName } from '../../../git/repository/leftovers.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import { fsck } from '../../../git/transfer/maintenance.ts'
import { lostAndFound, projectRepositoryDir } from './location.ts'
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
      const dir = projectRepositoryDir(ctx, project)
      known.add(dir)
      after = project.id
      if (belongingOf(dir, project.repository_key) === 'foreign') {
        problems.push(
          `${project.full_path}: the repository in its place does not carry its key, and goes to lost+found`,
        )
        await setAside(ctx, project)
        continue
      }
      const repo = openRepository(ctx, project)
      if (!(await repo.exists())) {
        if (project.default_branch !== null) problems.push(`${project.full_path}: its repository is missing`)
        continue
      }
      const broken = await fsck(repo)
      problems.push(...broken.map((line) => `${project.full_path}: ${line}`))
      await saveCheck(ctx.db, project.id, broken.length > 0)
      const head = project.default_branch === null ? undefined : branchRef(project.default_branch)
      if (head && !(await readRef(repo, head)))
        problems.push(`${project.full_path}: its default branch ${project.default_branch} does not exist`)
    }
    progress(`checked repositories up to project ${after}`)
  }
  // The repositories of projects that are being deleted are deleted with them.
  for (const project of await removedProjects(ctx.db)) known.add(projectRepositoryDir(ctx, project))
  for (const storage of storages)
    problems.push(...(await unownedRepositories(join(ctx.repositoriesDir, storage), known)))
  for (const name of await readdir(lostAndFound(ctx.repositoriesDir)).catch(() => []))
    problems.push(
      `${join(lostAndFound(ctx.repositoriesDir), name)} was in the place of a project that it does not belong to`,
    )
  return problems
}

/** Repositories on disk that belong to no project. */
async function unownedRepositories(folder: string, known: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = []
  for (const shard of await readdir(folder)) {
    for (const name of await readdir(join(folder, shard))) {
      const path = join(folder, shard, name)
      // A job deletes leftovers of crashes (jobs.ts); a repository that is being imported is beside its place.
      if (!isTemporaryName(name) && !known.has(path.replace(/\.import$/, '')))
        found.push(`${path} belongs to no project`)
    }
  }
  return found
}
