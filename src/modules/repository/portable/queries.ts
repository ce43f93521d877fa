import { author, choice, moment, oid, orNull, participantOrNull, partOf, words } from '../../../db/portable/columns.ts'
import { heldBy, type Relation } from '../../../db/portable/relation.ts'
import { raw, sql } from '../../../db/sql.ts'
import { statusColumns } from '../../ci/index.ts'

/** As much as a request may have. */
const longText = words(8 * 1024 * 1024)

const times = { created_at: moment, updated_at: moment }

/** What `repository` has of a project; pipelines come before. */
export const repositoryRelations: readonly Relation[] = [
  {
    name: 'statuses',
    ...heldBy('commit_statuses'),
    order: ['t.id'],
    columns: statusColumns,
    holder: ['project_id'],
  },
  {
    name: 'releases',
    ...heldBy('releases'),
    order: ['t.id'],
    columns: {
      tag: words(1024),
      name: orNull(longText),
      description: longText,
      author: { ...author, nullable: true, column: 'author_id' },
      released_at: moment,
      ...times,
    },
    hasId: true,
    holder: ['project_id'],
    batch: 5,
  },
  {
    name: 'release_links',
    table: 'release_links',
    from: raw('from releases m join release_links t on t.release_id = m.id'),
    where: ({ id }) => sql`m.project_id = ${id}`,
    order: ['m.id', 't.id'],
    columns: {
      release: { ...partOf('releases'), column: 'release_id' },
      name: words(10_000),
      url: words(10_000, /^(https?|ftp):\/\//i),
      link_type: choice('other', 'runbook', 'image', 'package'),
      ...times,
    },
  },
]

/** The commits that are discussed; what is said about them comes after. */
export const commentedCommitRelation: Relation = {
  name: 'commented_commits',
  ...heldBy('commented_commits'),
  order: ['t.id'],
  columns: {
    commit: { ...oid, column: 'oid' },
    title: words(255),
    author: { ...participantOrNull, column: 'author_id' },
  },
  hasId: true,
  holder: ['project_id'],
}
