export type Names = {
  /** `merge-requests` */
  readonly noun: string
  /** `merge_requests`: the table, and the segment of the path */
  readonly snake: string
  /** `mergeRequests` */
  readonly camel: string
  /** `MergeRequest`: the record */
  readonly record: string
}

export function namesOf(noun: string): Names {
  const words = noun.split('-')
  const capital = (word: string) => word[0]!.toUpperCase() + word.slice(1)
  const camel = [words[0]!, ...words.slice(1).map(capital)].join('')
  const plural = words.map(capital).join('')
  const record = plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.slice(0, -1)
  return { noun, snake: words.join('_'), camel, record }
}

const lower = (name: string): string => name[0]!.toLowerCase() + name.slice(1)

/** Imported names in the linter's order. */
const sorted = (names: string[]): string => {
  const keyOf = (name: string) => name.replace('type ', '').toLowerCase()
  return names.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)).join(', ')
}

/** The files of an area that lists records of a project: the most common kind, and the easiest to reduce. */
export const areaFiles = (names: Names, module: string): Record<string, string> => ({
  'entity.ts': entity(names),
  'queries.ts': queries(names),
  'routes.ts': routes(names, module),
  [`${names.noun}.test.ts`]: test(names),
})

const entity = ({ record }: Names) => `import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import type { ${record}Row } from './queries.ts'

export const ${record} = entity({
  name: '${record}',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the record' }),
    name: Type.String({ description: 'Name of the record' }),
    created_at: timestamp('Time at which the record was created'),
  }),
  present: (row: ${record}Row) => ({ id: row.id, name: row.name, created_at: row.created_at }),
})
`

const queries = ({ snake, record, camel }: Names) => `import type { List } from '../../../api/list.ts'
import { integer, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'

export const ${lower(record)}Row = { id: integer, name: text, created_at: timestamp }
export type ${record}Row = RowOf<typeof ${lower(record)}Row>

/** Records of a project, oldest first. */
export const ${camel}Of = (projectId: number): List => ({
  type: '${record}',
  select: raw('select t.id, t.name, t.created_at from ${snake} t'),
  from: raw('from ${snake} t'),
  where: [sql\`t.project_id = \${projectId}\`],
  order: [{ by: raw('t.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})
`

const routes = ({ snake, record, camel }: Names, module: string) => `import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { project } from '${module === 'projects' ? '../projects/subject.ts' : '../../projects/index.ts'}'
import { ${record} } from './entity.ts'
import { ${sorted([`${camel}Of`, `${lower(record)}Row`])} } from './queries.ts'

export const ${camel}Routes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/${snake}',
    summary: 'List the ${snake.replaceAll('_', ' ')} of a project',
    subject: project,
    allow: 'read_project',
    paged: true,
    returns: ${record},
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, ${lower(record)}Row, ${camel}Of(subject.id), page),
  }),
]
`

const test = ({ snake }: Names) => `import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'

describe('GET /projects/:id/${snake}', () => {
  test('responds 404 to callers who cannot see the project', async ({ world }) => {
    const owner = await world.user()
    const { id } = (await owner.post('/projects', { name: unique('hidden') })).json
    for (const who of [await world.user(), world.anonymous])
      expect(await who.get(\`/projects/\${id}/${snake}\`)).toMatchObject({
        status: 404,
        json: { message: '404 Project Not Found' },
      })
  })
})
`
