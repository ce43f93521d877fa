import { hash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FormData } from 'undici'
import { expect, test } from 'vitest'
import { download } from '../../src/modules/portability/testing.ts'
import { oidOf, upload } from '../../src/modules/pushes/large-files/testing.ts'
import { Launched } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'
import { unique } from '../world.ts'

/** The smallest PNG: one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('check --read-blobs names each blob whose bytes have changed on the disk, and what it belongs to', async () => {
  const service = await serve(await freshEnv())
  const { root, env } = service
  const made = (await root.post('/projects', { path: 'held', initialize_with_readme: true })).json
  const project = { ...made, full_path: made.path_with_namespace }
  const folder = join(env.STITHY_DATA_DIR, 'blobs', 'sha256')
  const fileOf = (digest: string) => join(folder, digest.slice(0, 2), digest.slice(2, 4), digest)
  const form = (field: string, content: Buffer, name: string) => {
    const body = new FormData()
    body.set(field, new Blob([content as never]), name)
    return { body }
  }
  const notes = unique('notes')
  await root.send('POST', `/projects/${project.id}/uploads`, form('file', Buffer.from(notes), 'notes.txt'))
  await root.send('PUT', '/user/avatar', form('avatar', png, 'face.png'))
  const large = unique('large')
  await upload(root, project, large)
  const whole = unique('whole')
  await upload(root, project, whole)
  expect((await root.post(`/projects/${project.id}/export`)).status).toBe(202)
  await eventually(async () =>
    expect((await root.get(`/projects/${project.id}/export`)).json.export_status).toBe('finished'),
  )
  const { body: exported } = await download(service, root, `/projects/${project.id}/export/download`)
  const archive = hash('sha256', exported, 'hex')

  const check = async (...words: string[]) => {
    const launched = new Launched(['check', ...words], env, { file: bin })
    const exit = await launched.exit
    const problems = launched.err.split('\n').filter((line) => line !== '' && !line.startsWith('checked '))
    return [exit, problems.sort()]
  }
  expect(await check('--read-blobs')).toEqual([0, []])
  const damaged = [oidOf(notes), oidOf(png), oidOf(large), archive]
  for (const digest of damaged) {
    const bytes = await readFile(fileOf(digest))
    bytes[bytes.length >> 1]! ^= 1
    await writeFile(fileOf(digest), bytes)
  }
  expect(await check()).toEqual([0, []])
  expect(await check('--read-blobs')).toEqual([
    1,
    [
      expect.stringMatching(/^export \d+ of project \d+: its archive is damaged$/),
      `project ${project.id}: its large file ${oidOf(large)} is damaged`,
      `project ${project.id}: its upload 1 is damaged`,
      `user 1: its picture ${oidOf(png)} is damaged`,
    ],
  ])

  // The file is removed, and a client sends it again.
  await rm(fileOf(oidOf(large)))
  await upload(root, project, large)
  const { status, text } = await root.send('GET', `//${project.full_path}.git/gitlab-lfs/objects/${oidOf(large)}`, {
    headers: { authorization: `Basic ${Buffer.from(`root:${root.token}`).toString('base64')}`, 'private-token': '' },
  })
  expect([status, text]).toEqual([200, large])
})
