import { expect, test } from 'vitest'
import { killingGit } from '../../../../test/killing-git.ts'
import { freshEnv, serve } from '../../../../test/service.ts'
import { eventually } from '../../../../test/waiting.ts'
import { download, upload } from '../testing.ts'

test('an import is repeated when the git that lists its references is killed', async () => {
  // What only reads is repeated once in the same attempt.
  const PATH = await killingGit('*.import*for-each-ref*', 'itself', 2)
  const service = await serve({ ...(await freshEnv()), PATH })
  const { root } = service
  const { id } = (await root.post('/projects', { path: 'source', initialize_with_readme: true })).json
  expect((await root.post(`/projects/${id}/export`)).status).toBe(202)
  await eventually(async () =>
    expect((await root.get(`/projects/${id}/export`)).json).toMatchObject({ export_status: 'finished' }),
  )
  const archive = await download(service, root, `/projects/${id}/export/download`)
  const made = await upload(root, archive.body, { path: 'imported' })
  const shown = async () => (await root.get(`/projects/${made.json.id}/import`)).json
  await eventually(async () => expect((await shown()).import_status).toMatch(/finished|failed/))
  expect(await shown()).toMatchObject({ import_status: 'finished', import_error: null })
})
