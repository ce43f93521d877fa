import type { Caller } from '../../../access/actor.ts'
import { visibilities } from '../../../access/levels.ts'
import type { List } from '../../../api/list.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { readableRow } from '../../discussion/index.ts'
import { openVisibility, visibleProjects } from '../../projects/index.ts'
import { columns, complete, joins } from './queries.ts'

/** Newest first. */
const listed = (where: readonly Sql[], from: Sql = raw('from snippets m')): List => ({
  type: 'Snippet',
  cached: true,
  select: sql`select ${columns} ${joins}`,
  from,
  key: raw('m.id'),
  where: [complete, ...where],
  order: [{ by: raw('m.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

const personal = raw('m.project_id is null')
const withProject = raw('from snippets m left join projects p on p.id = m.project_id')

/** Snippets of a project that the caller may read: SQL twin of `snippetPolicy.read_snippet`. The project is visible. */
export const snippetsOfProject = (caller: Caller, projectId: number): List =>
  listed([sql`m.project_id = ${projectId}`, readableRow('Snippet', caller)], withProject)

/** Personal snippets of a user. */
export const snippetsOfUser = (userId: number, created: readonly Sql[]): List =>
  listed([personal, sql`m.author_id = ${userId}`, ...created])

/** Public personal snippets. */
export const publicSnippets = (created: readonly Sql[]): List =>
  listed([personal, sql`m.visibility = ${literal(visibilities.public)}`, ...created])

/** All snippets, of projects too. For administrators. */
export const allSnippets = (created: readonly Sql[]): List =>
  listed([raw('(p.id is null or not p.deleting)'), ...created], withProject)

/** Conditions on the time of creation. */
export const createdBetween = (after: Date | undefined, before: Date | undefined): Sql[] => [
  ...(after ? [sql`m.created_at > ${after}`] : []),
  ...(before ? [sql`m.created_at < ${before}`] : []),
]

/** The caller may read the snippet `m`, of the project `p` if it has one. */
function readable(caller: Caller): Sql {
  const ofProjects = sql`
    (p.id is not null and not p.deleting and ${visibleProjects(caller)} and ${readableRow('Snippet', caller)})
  `
  // A token limited to projects or groups reads nothing outside of them.
  if (caller?.limits) return ofProjects
  const open = sql`m.visibility >= ${openVisibility(caller)}`
  const own = caller === null ? open : caller.admin ? raw('true') : sql`(${open} or m.author_id = ${caller.id})`
  return sql`(${ofProjects} or (p.id is null and ${own}))`
}

/** Snippets with these words in title, name of the first file or description, of those that the caller may read. */
export const snippetsTitled = (caller: Caller, search: string, within: Sql = raw('true')): List =>
  listed([fuzzy(search, ['m.title', 'm.file_name', 'm.description']), within, readable(caller)], withProject)

/** Snippets with these words in their files, of those that the caller may read. */
export const snippetsContaining = (caller: Caller, search: string, within: Sql = raw('true')): List =>
  listed(
    [
      sql`exists (select from snippet_texts c where c.snippet_id = m.id and ${fuzzy(search, ['c.text'])})`,
      within,
      readable(caller),
    ],
    withProject,
  )
