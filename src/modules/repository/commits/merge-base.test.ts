import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { history, linesOf, pick, storedProject } from './testing.ts'

const enc = encodeURIComponent

describe('GET /projects/:id/repository/merge_base', () => {
  test('D1-MERGE-BASE: the merge base is that of git', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const made = history(repository, 'bases', 30)
    const of = (...refs: string[]) =>
      world.root.get(
        `/projects/${project.id}/repository/merge_base?${refs.map((ref) => `refs[]=${enc(ref)}`).join('&')}`,
      )
    for (let run = 0; run < 15; run++) {
      const refs = Array.from({ length: 2 + (run % 2) }, (_, at) => made[pick(`base ${run} ${at}`, made.length)]!)
      expect((await of(...refs)).json.id, refs.join(' ')).toBe(linesOf(repository.git('merge-base', ...refs))[0])
    }
    expect(await of('main', 'side')).toMatchObject({
      status: 200,
      json: { id: repository.git('merge-base', 'main', 'side') },
    })
    repository.commit({ alone: '' }, { branch: 'orphan', parents: [] })
    expect(await of('main', 'orphan')).toMatchObject({ status: 404, json: { message: '404 Merge Base Not Found' } })
    expect(await of('main')).toMatchObject({ status: 400, json: { message: 'Provide at least 2 refs' } })
    expect(await of('main', 'x')).toMatchObject({ status: 400, json: { message: 'Could not find ref: x' } })
    expect(await of('y', 'main', 'x')).toMatchObject({ status: 400, json: { message: 'Could not find refs: y, x' } })
    expect(await world.root.get(`/projects/${project.id}/repository/merge_base`)).toMatchObject({
      status: 400,
      json: { error: 'refs is missing' },
    })
    expect(await of(...Array<string>(101).fill('main'))).toMatchObject({
      status: 400,
      json: { error: 'refs does not have a valid value' },
    })
  })
})
