import { expect, test } from 'vitest'
import { Registry } from '../../src/edges/registry/testing.ts'
import { at, compareAfter, field, lookBy, scene, status, total, write } from '../agreeing-workers.ts'
import { twoWorkers } from '../two-workers.ts'

test('container tags that are deleted and restored are so in each worker at once', async () => {
  const { workers, root } = await twoWorkers()
  const [one] = workers
  const { P } = await scene(one)
  const image = await Registry.open(root, 'tools/hammer')
  for (const tag of ['a', 'b', 'c']) await image.image(tag)
  const [{ id }] = (await one('GET', `/api/v4${P}/registry/repositories`)).json
  const tags = `${P}/registry/repositories/${id}/tags`
  const counted = at(`/registry/repositories/${id}?tags_count=true`, field('tags_count'))
  await compareAfter(workers, [
    [
      write('DELETE', `${tags}/a`),
      [
        [at(tags, total), 3, 2],
        [at(`${tags}/a`, status), 200, 404],
        [counted, 3, 2],
      ],
    ],
    [write('POST', `${tags}/a/restore`), [[at(`${tags}/a`, status), 404, 200]]],
  ])
  const repositories = at(`${P}/registry/repositories`, total)
  await one('DELETE', `/api/v4${P}/registry/repositories/${id}`)
  // Until the job has run, it is listed as scheduled for deletion.
  for (const worker of workers) await expect.poll(async () => total(await lookBy(worker, repositories))).toBe(0)
  await compareAfter(workers, [[write('POST', `${P}/registry/repositories/${id}/restore`), [[repositories, 0, 1]]]])
})
