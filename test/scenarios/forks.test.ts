import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'
import { git } from '../world.ts'

test('forks get complete repositories although the worker processes are killed', async () => {
  const { launched, origin, root, env } = await serve({ ...(await freshEnv()), STITHY_PROCESSES: '1' })
  const source = (await root.post('/projects', { path: 'source' })).json
  const work = await temporaryFolder()
  await git(work, 'init', '-q', '-b', 'main')
  for (let n = 0; n < 200; n++) await writeFile(join(work, `file-${n}.rb`), randomBytes(50_000).toString('base64'))
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First')
  await git(work, 'push', '-q', origin.replace('//', '//root:root-token-for-tests@').concat('/root/source.git'), 'main')

  const forks: number[] = []
  for (const title of ['stithy jobs', 'stithy git runner', 'stithy jobs']) {
    // One that has ended when its state is asked, on a busy machine, is no fork to interrupt.
    let state: string | undefined
    for (let attempt = 0; attempt < 5 && state !== 'started'; attempt++) {
      const path = `fork-${forks.length}`
      const made = await root.post(`/projects/${source.id}/fork`, { path, name: path })
      expect(made.status).toBe(201)
      forks.push(made.json.id)
      state = await eventually(async () => {
        const { import_status } = (await root.get(`/projects/${made.json.id}`)).json
        expect(import_status).not.toBe('scheduled')
        return import_status as string
      }, 5)
    }
    expect(state).toBe('started')
    await launched.killNamed(title)
    await eventually(() => expect(launched.named(title)).toHaveLength(1))
  }
  for (const id of forks)
    await eventually(
      async () =>
        expect((await root.get(`/projects/${id}`)).json).toMatchObject({
          import_status: 'finished',
          default_branch: 'main',
        }),
      200,
    )
  expect((await root.get(`/projects/${source.id}`)).json.forks_count).toBe(forks.length)
  await eventually(
    async () => expect((await root.get(`/projects/${forks[0]}/languages`)).json).toEqual({ Ruby: 100 }),
    200,
  )

  launched.process.kill('SIGTERM')
  expect(await launched.exit).toBe(0)
  // No temporary files remain, and all objects are intact.
  const check = new Launched(['check'], env, { file: bin })
  expect([await check.exit, check.err]).toEqual([
    0,
    expect.stringMatching(/^checked repositories up to project \d+\n$/),
  ])
})
