import { expect, test as plain } from 'vitest'
import { compileParams } from '../../src/api/params/compile.ts'
import { alternatives, isOptional, type ParamSchema } from '../../src/api/params/schema.ts'
import { allParams } from '../../src/edges/http/declared.ts'
import { endpoints } from '../../src/modules/endpoints.ts'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { test } from '../world.ts'

const isFilter = (schema: ParamSchema): boolean =>
  isOptional(schema) && alternatives(schema).every(({ type, enum: words }) => type !== undefined && words === undefined)

plain('every filter of every list is ignored when it is empty, except the search for users', () => {
  const heeded = endpoints
    .filter(({ method, paged }) => method === 'GET' && paged)
    .flatMap((e) => {
      const { properties } = allParams(e)
      const filters = Object.entries(properties as Record<string, ParamSchema>).filter(([, each]) => isFilter(each))
      const read = (value?: '' | ['']) =>
        compileParams({ ...allParams(e), properties: Object.fromEntries(filters) } as ReturnType<typeof allParams>)(
          value === undefined ? {} : Object.fromEntries(filters.map(([name]) => [name, value])),
          'GET',
        ) as Record<string, unknown>
      const [without, empty] = [read(), read('')]
      return Object.keys(empty)
        .filter((name) => !(name in without))
        .map((name) => `${e.path} ${name}`)
    })
  expect(heeded).toEqual(['/users search', '/users username'])
})

test('lists of issues, merge requests, branches, milestones, members and statuses are the same with empty filters', async ({
  world,
}) => {
  const { project, head } = await openMergeRequest(world)
  const at = `/projects/${project.id}`
  for (const [path, body] of [
    ['issues', { title: 'One' }],
    ['milestones', { title: 'One' }],
    ['labels', { name: 'one', color: '#ff0000' }],
    ['environments', { name: 'live' }],
    ['badges', { link_url: 'https://example.com/a', image_url: 'https://example.com/b' }],
    ['deployments', { environment: 'live', sha: head, ref: 'main', tag: false, status: 'success' }],
    [`statuses/${head}`, { state: 'success', ref: 'topic' }],
  ] as const)
    expect((await world.root.post(`${at}/${path}`, body)).text, path).toContain('"id":')
  for (const [path, ...names] of [
    ['issues', 'search', 'labels', 'milestone', 'author_username', 'author_id', 'assignee_username[]', 'iids[]', 'in'],
    ['issues', 'not[author_username]', 'not[labels]', 'not[milestone]', 'my_reaction_emoji', 'created_after'],
    ['merge_requests', 'source_branch', 'target_branch', 'reviewer_username', 'author_username', 'search', 'labels'],
    ['milestones', 'search', 'title', 'iids[]'],
    ['labels', 'search'],
    ['members/all', 'query', 'user_ids[]'],
    ['users', 'search'],
    ['repository/branches', 'search', 'regex'],
    ['repository/tree', 'path', 'ref'],
    ['repository/commits', 'path', 'ref_name', 'since', 'author'],
    [`repository/commits/${head}/statuses`, 'ref', 'stage', 'name'],
    ['environments', 'name', 'search'],
    ['deployments', 'environment'],
    ['badges', 'name'],
    ['pipelines', 'ref', 'sha', 'username', 'name'],
  ] as const) {
    const all = await world.root.get(`${at}/${path}`)
    expect(all.status, path).toBe(200)
    expect(all.json, path).not.toEqual([])
    for (const name of names) {
      const filtered = await world.root.get(`${at}/${path}?${name}=`)
      expect.soft(filtered.status, `${path} ${name}`).toBe(200)
      expect.soft(filtered.json, `${path} ${name}`).toHaveLength(all.json.length)
    }
  }
})
