import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { encodeLineCounts } from '../../../git/history/line-counts.ts'
import { storedProject } from './testing.ts'

describe('GET /projects/:id/repository/contributors', () => {
  test('D1-CONTRIBUTORS-ORDER: contributors by commits, fewest first, with lines, no merges', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    repository.commit({ a: '1\n2\n' }, { author: 'Ann <ann@example.com>' })
    const side = repository.commit({ b: '1\n' }, { author: 'Bob <bob@example.com>' })
    repository.commit({ a: '1\n' }, { author: 'Ann B <ann@example.com>' })
    const main = repository.git('rev-parse', 'main') as Oid
    repository.commit({}, { author: 'Cid <cid@example.com>', parents: [main, side] })
    const ann = { name: 'Ann B', email: 'ann@example.com', commits: 2, additions: 2, deletions: 1 }
    const bob = { name: 'Bob', email: 'bob@example.com', commits: 1, additions: 1, deletions: 0 }
    const at = `/projects/${project.id}/repository/contributors`
    expect(await world.anonymous.get(at)).toMatchObject({ status: 200, json: [bob, ann], headers: { 'x-total': '2' } })
    expect((await world.root.get(`${at}?sort=desc`)).json).toEqual([ann, bob])
    expect((await world.root.get(`${at}?order_by=name`)).json).toEqual([ann, bob])
    expect((await world.root.get(`${at}?order_by=email&sort=desc`)).json).toEqual([bob, ann])
    expect(await world.root.get(`${at}?order_by=age`)).toMatchObject({
      status: 400,
      json: { error: 'order_by does not have a valid value' },
    })
    expect((await world.root.get(`/projects/${(await storedProject(world)).id}/repository/contributors`)).json).toEqual(
      [],
    )
  })
  test('lines that were counted before are read from a file that does not count as size, unless it is damaged', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const { repository } = project
    const commits = Array.from({ length: 30 }, (_, n) => repository.commit({ a: `${n}\n` }))
    const place = join(repository.gitDir, 'objects/info/stithy-line-counts')
    const lines = async () => {
      const { json } = await world.root.get(`/projects/${project.id}/repository/contributors`)
      return json.map(({ additions, deletions }: { additions: number; deletions: number }) => [additions, deletions])
    }
    expect(await lines()).toEqual([[30, 29]])
    expect(readFileSync(place).length).toBeGreaterThan(30 * 20)
    // As if each had added a hundred lines, which git would not count.
    const content = encodeLineCounts(new Map(commits.map((oid) => [oid, { additions: 100, deletions: 0 }])))
    writeFileSync(place, content)
    repository.commit({ a: 'x\n' })
    expect(await lines()).toEqual([[3001, 1]])
    content[20]! ^= 1
    writeFileSync(place, content)
    repository.commit({ a: 'y\n' })
    expect(await lines()).toEqual([[32, 31]])
  })
})
