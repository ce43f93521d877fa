import { join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import {
  inspectRepository,
  projectRepositoryDir,
  saveWikiCheck,
  shardsOf,
  unownedRepositories,
} from '../../projects/index.ts'
import { type SideRepository, sideRepositoriesAfter, sideRepositoriesWithoutHolder } from './queries.ts'

const page = 500

/** As `checkRepositories`, for the repositories of wikis and snippets. */
export async function checkSideRepositories(
  ctx: Ctx,
  storages: readonly string[],
  progress: (line: string) => void,
): Promise<string[]> {
  const problems: string[] = []
  const known = new Set<string>()
  let after = 0
  for (;;) {
    const rows = await sideRepositoriesAfter(ctx.db, after, page)
    if (rows.length === 0) break
    for (const row of rows) {
      after = row.id
      known.add(projectRepositoryDir(ctx, row))
      const { broken, others } = await inspectRepository(ctx, row)
      if (broken && row.project_id !== null) await saveWikiCheck(ctx.db, row.project_id, broken.length > 0)
      problems.push(...[...(broken ?? []), ...others].map((line) => `${nameOf(row)}: ${line}`))
    }
    progress(`checked wikis and snippets up to repository ${after}`)
  }
  // A job deletes them.
  for (const row of await sideRepositoriesWithoutHolder(ctx.db, 100_000)) known.add(projectRepositoryDir(ctx, row))
  for (const storage of storages)
    problems.push(
      ...(await unownedRepositories(await shardsOf(join(ctx.repositoriesDir, storage), 'side'), known)).map(
        (path) => `${path} belongs to no wiki or snippet`,
      ),
    )
  return problems
}

const names = { project_wiki: 'wiki of project', group_wiki: 'wiki of group', snippet: 'snippet' } as const

const nameOf = ({ kind, project_id, group_id, snippet_id }: SideRepository): string =>
  `${names[kind]} ${project_id ?? group_id ?? snippet_id}`
