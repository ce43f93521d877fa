import { expect, test } from 'vitest'
import { killingGit } from '../killing-git.ts'
import { freshEnv, serve } from '../service.ts'

/** A service whose git ends once with SIGKILL, as the kernel does when memory is short, and a project with a branch `topic`. */
async function servedWith(pattern: string) {
  const { root } = await serve({ ...(await freshEnv()), PATH: await killingGit(pattern, 'itself') })
  const { id } = (
    await root.post('/projects', { path: 'killed', initialize_with_readme: true, default_branch: 'main' })
  ).json
  const at = `/projects/${id}`
  const commit = await root.post(`${at}/repository/commits`, {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Add a file',
    actions: [{ action: 'create', file_path: 'file', content: 'text' }],
  })
  expect(commit.status).toBe(201)
  return { root, at }
}

test('what only reads is repeated', async () => {
  const { root, at } = await servedWith('*blame*')
  const blame = await root.get(`${at}/repository/files/file/blame?ref=topic`)
  expect(blame).toMatchObject({ status: 200, json: [{ lines: ['text'] }] })
})

test('503 to a change, which succeeds when it is sent again', async () => {
  const { root, at } = await servedWith('*merge-tree*')
  const main = await root.post(`${at}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add another file',
    actions: [{ action: 'create', file_path: 'another', content: 'text' }],
  })
  const [{ id }] = (await root.get(`${at}/repository/commits?ref_name=topic`)).json
  const pick = () => root.post(`${at}/repository/commits/${id}/cherry_pick`, { branch: 'main' })
  expect((await pick()).status).toBe(503)
  const [tip] = (await root.get(`${at}/repository/commits?ref_name=main`)).json
  expect(tip.id).toBe(main.json.id)
  expect(await pick()).toMatchObject({ status: 201, json: { parent_ids: [tip.id], title: 'Add a file' } })
})
