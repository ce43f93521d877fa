import { beforeAll, describe, expect, test } from 'vitest'
import { changeSnippet } from '../../../../test/tables/text.ts'
import type { World } from '../../../../test/world.ts'
import type { Caller } from '../../../access/actor.ts'
import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { snippetPolicy } from '../../../access/snippet-policy.ts'
import { sql } from '../../../db/sql.ts'
import { type Arrangement, arranged, featureCases, visibilities } from '../../namespaces/access-index/testing.ts'
import { findIssue } from '../../planning/issues/queries.ts'
import { issueFacts } from '../../planning/issues/subject.ts'
import { findProject, visibleProjects } from '../../projects/projects/queries.ts'
import { projectFacts } from '../../projects/projects/subject.ts'
import { findProjectSnippet } from '../../text/snippets/queries.ts'
import { snippetFacts } from '../../text/snippets/subject.ts'
import { createSnippet } from '../../text/snippets/testing.ts'
import { readableRow, readersOfRow, tableOf } from './queries.ts'

let world: World
let trees: Arrangement['trees']
let callers: Arrangement['callers']

beforeAll(async () => {
  ;({ world, trees, callers } = await arranged())
  return () => world[Symbol.asyncDispose]()
})

/** The conditions of lists and of receivers decide as the policy does. */
async function expectTwins(type: 'Issue' | 'Snippet', id: number, caller: Caller, may: boolean, what: string) {
  const from = sql`${tableOf(type)} m join projects p on p.id = m.project_id`
  const readable = sql`
    select from ${from} where m.id = ${id} and ${visibleProjects(caller)} and ${readableRow(type, caller)}
  `
  expect(await world.db.exists(readable), what).toBe(may)
  if (caller === null) return
  const reader = sql`select from users u, ${from} where u.id = ${caller.id} and m.id = ${id} and ${readersOfRow(type)}`
  expect(await world.db.exists(reader), what).toBe(may)
}

describe('policies and their SQL equivalents', () => {
  test.for(featureCases)(
    'policy and SQL agree about issues, confidential or not, $visibility and $level',
    async ({ visibility, level }) => {
      const { project } = trees.get(visibility)!
      const enable = (issues_access_level: string) => world.root.put(`/projects/${project.id}`, { issues_access_level })
      await enable('enabled')
      const assignees = ['a guest', 'a stranger', 'an external user', 'a former member'] as const
      const assignee_ids = assignees.map((kind) => callers.get(kind)!.id)
      const opened = await Promise.all(
        [{}, { confidential: true }, { confidential: true, assignee_ids }].map(async (attributes) => {
          const made = await world.root.post(`/projects/${project.id}/issues`, { title: 'x', ...attributes })
          expect(made.status, made.text).toBe(201)
          return made.json
        }),
      )
      await enable(level)
      for (const [kind, caller] of callers) {
        const subject = (await findProject(world.db, caller, project.id))!
        const place = { ...subject, facts: projectFacts(subject) }
        for (const { id, iid, confidential } of opened) {
          const row = (await findIssue(world.db, caller, project.id, iid))!
          const may =
            allows(projectPolicy.read_project, caller, place.facts) &&
            allows(issuePolicy.read_issue, caller, issueFacts(row, place))
          const what = `${kind}, ${confidential ? 'confidential' : 'open'} ${iid}`
          await expectTwins('Issue', id, caller, may, what)
        }
      }
    },
  )

  test.for(featureCases)(
    'policy and SQL agree about snippets of each visibility, $visibility and $level',
    async ({ visibility, level }) => {
      const { project } = trees.get(visibility)!
      const enable = (snippets_access_level: string) =>
        world.root.put(`/projects/${project.id}`, { snippets_access_level })
      await enable('enabled')
      const ids = await Promise.all(
        visibilities.map(async (own) => (await createSnippet(world, { project, visibility: own })).id),
      )
      const authors = ['a stranger', 'an external user', 'a guest'] as const
      for (const kind of authors) {
        const { id } = await createSnippet(world, { project, visibility: 'private' })
        await changeSnippet(world, id, { author_id: callers.get(kind)!.id })
        ids.push(id)
      }
      await enable(level)
      for (const [kind, caller] of callers) {
        const subject = (await findProject(world.db, caller, project.id))!
        const place = { ...subject, facts: projectFacts(subject) }
        for (const [index, id] of ids.entries()) {
          const row = (await findProjectSnippet(world.db, caller, project.id, id))!
          const may =
            allows(projectPolicy.read_project, caller, place.facts) &&
            allows(snippetPolicy.read_snippet, caller, snippetFacts(caller, row, place))
          const what = `${kind}, ${visibilities[index] ?? `private of ${authors[index - 3]}`}`
          await expectTwins('Snippet', id, caller, may, what)
        }
      }
    },
  )
})
