import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { administrator } from '../../src/modules/portability/testing.ts'
import { repositoriesIn, shardsOf } from '../../src/modules/projects/repositories/location.ts'
import { Launched } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, rootToken, serve } from '../service.ts'
import { eventually } from '../waiting.ts'
import { Client } from '../world.ts'

/** Enough that the kills come in the middle. */
const count = 40

test('a removal of a user and of projects that is killed again and again leaves no repository, and spares a new project at the same path', async () => {
  let service = await serve(await freshEnv())
  const root = new Client(service.origin, { id: 1, username: 'root', token: rootToken })
  const ann = await administrator(service)
  const create = (who: Client, path: string) => who.post('/projects', { path, initialize_with_readme: true })
  for (let n = 0; n < count; n++) expect((await create(ann, `own-${n}`)).status).toBe(201)
  const former = (await create(root, 'again')).json.id
  for (let n = 0; n < 20; n++) await root.post(`/projects/${former}/issues`, { title: `Issue ${n}` })
  const storage = join(service.env.STITHY_DATA_DIR, 'repositories', 'default')
  const repositories = async () => {
    const shards = await shardsOf(storage, 'projects')
    return (await Promise.all(shards.map(repositoriesIn))).flat().length
  }
  expect(await repositories()).toBe(count + 1)

  expect((await root.delete(`/projects/${former}`)).status).toBe(202)
  expect((await root.delete(`/users/${ann.id}?hard_delete=true`)).status).toBe(204)
  // Its path is free when the former project is gone.
  const creating = eventually(async () => {
    const made = await create(root, 'again')
    expect(made.status).toBe(201)
    return made
  })
  const seen = new Set<number>()
  for (const [title, ms] of [
    ['stithy jobs', 20],
    ['stithy jobs', 50],
    ['everything', 80],
    ['stithy jobs', 30],
  ] as const) {
    const before = await repositories()
    // After a start it takes a while until the first job runs. At the end there is the new project, or nothing.
    await eventually(async () => expect((await repositories()) < before || before <= 1).toBe(true))
    await delay(ms)
    if (title === 'everything') {
      // A creation whose response is lost cannot be repeated.
      await creating
      process.kill(service.launched.pid, 'SIGKILL')
      await service.launched.exit
      service = await serve(service.env)
    } else await service.launched.killNamed(title)
    seen.add(await repositories())
  }
  const made = await creating
  await eventually(async () => {
    expect((await root.get(`/users/${ann.id}`)).status).toBe(404)
    expect(await repositories()).toBe(1)
  }, 200)
  // The kills came in the middle.
  expect(seen.size).toBeGreaterThan(1)
  expect((await root.get(`/projects/${former}`)).status).toBe(404)
  expect(await root.get(`/projects/${made.json.id}/repository/files/README.md/raw?ref=HEAD`)).toMatchObject({
    status: 200,
  })
  for (const shard of await shardsOf(storage, 'projects'))
    expect((await readdir(shard)).filter((name) => !/^\d+\.git$/.test(name))).toEqual([])
  service.launched.process.kill('SIGTERM')
  expect(await service.launched.exit).toBe(0)
  const check = new Launched(['check'], service.env, { file: bin })
  expect(await check.exit, check.err).toBe(0)
})
