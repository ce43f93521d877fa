import type { Ctx } from '../../../api/ctx.ts'
import { checkAll, saveWikiCheck } from '../../projects/index.ts'
import { type SideRepository, sideRepositoriesAfter, sideRepositoriesWithoutHolder } from './queries.ts'

/** More than are ever deleted at once. */
const maxLeaving = 100_000

/** Checks the repositories of wikis and snippets, as `checkAll` does. */
export const checkSideRepositories = (
  ctx: Ctx,
  storages: readonly string[],
  progress: (line: string) => void,
): Promise<string[]> =>
  checkAll<SideRepository>(ctx, storages, progress, {
    folder: 'side',
    holder: 'wiki or snippet',
    walked: 'wikis and snippets up to repository',
    after: (after, limit) => sideRepositoriesAfter(ctx.db, after, limit),
    leaving: () => sideRepositoriesWithoutHolder(ctx.db, maxLeaving),
    nameOf,
    save: async ({ project_id }, failed) => {
      if (project_id !== null) await saveWikiCheck(ctx.db, project_id, failed)
    },
  })

const names = { project_wiki: 'wiki of project', group_wiki: 'wiki of group', snippet: 'snippet' } as const

const nameOf = ({ kind, project_id, group_id, snippet_id }: SideRepository): string =>
  `${names[kind]} ${project_id ?? group_id ?? snippet_id}`
