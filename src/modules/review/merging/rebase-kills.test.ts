import { expect, test } from 'vitest'
import { killingGit } from '../../../../test/killing-git.ts'
import { freshEnv, serve } from '../../../../test/service.ts'
import { eventually } from '../../../../test/waiting.ts'

test('a rebase is repeated when kill -9 of the git runner interrupts it', async () => {
  const { root } = await serve({ ...(await freshEnv()), PATH: await killingGit('*merge-tree*', 'its parent') })
  const { id } = (
    await root.post('/projects', { path: 'rebased', initialize_with_readme: true, default_branch: 'main' })
  ).json
  const at = `/projects/${id}`
  const commit = (branch: string, file_path: string) =>
    root.post(`${at}/repository/commits`, {
      branch,
      start_branch: 'main',
      commit_message: file_path,
      actions: [{ action: 'create', file_path, content: file_path }],
    })
  expect((await commit('topic', 'theirs')).status).toBe(201)
  const main = await root.post(`${at}/repository/commits`, {
    branch: 'main',
    commit_message: 'ours',
    actions: [{ action: 'create', file_path: 'ours', content: 'ours' }],
  })
  expect(main.status).toBe(201)
  const made = { source_branch: 'topic', target_branch: 'main', title: 'Topic' }
  expect((await root.post(`${at}/merge_requests`, made)).status).toBe(201)
  expect((await root.put(`${at}/merge_requests/1/rebase`)).status).toBe(202)
  const shown = async () => (await root.get(`${at}/merge_requests/1?include_rebase_in_progress=true`)).json
  await eventually(async () => expect(await shown()).toMatchObject({ rebase_in_progress: false }))
  expect(await shown()).toMatchObject({ merge_error: null })
  const [tip] = (await root.get(`${at}/repository/commits?ref_name=topic&per_page=1`)).json
  expect(tip).toMatchObject({ title: 'theirs', parent_ids: [main.json.id] })
})
