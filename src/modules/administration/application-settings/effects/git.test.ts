import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { changeStatistics } from '../../../../../test/tables/projects.ts'
import { unique, type World } from '../../../../../test/world.ts'
import { repositoriesDir } from '../../../../config.ts'
import { git as settings } from '../../../../settings/declared/git.ts'
import { newPublicKey } from '../../../accounts/ssh-keys/testing.ts'
import { basic, newProject, push, refs, showEffects } from './testing.ts'

const lfsBatch = async (world: World, size: number, project?: { path_with_namespace: string }) => {
  const { path_with_namespace } = project ?? (await newProject(world))
  const answer = await world.root.send('POST', `//${path_with_namespace}.git/info/lfs/objects/batch`, {
    headers: { ...basic('root', world.root.token!), 'content-type': 'application/vnd.git-lfs+json' },
    body: JSON.stringify({ operation: 'upload', objects: [{ oid: 'a'.repeat(64), size }] }),
  })
  return answer.status === 200 ? (JSON.parse(answer.text).objects[0].error?.code ?? 200) : answer.status
}

const writesCommit = async (world: World, project: { id: number; default_branch: string }) =>
  (
    await world.root.post(`/projects/${project.id}/repository/commits`, {
      branch: project.default_branch,
      commit_message: 'More',
      actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
    })
  ).status

showEffects(
  settings,
  [
    [
      'repository_storages',
      { repository_storages: ['fast'] },
      async (world) => {
        await mkdir(join(repositoriesDir(world.config), 'fast'), { recursive: true })
        return (await newProject(world, { initialize_with_readme: true })).repository_storage
      },
      'default',
      'fast',
    ],
    [
      'D2-SETTINGS-GIT-PROTOCOL enabled_git_access_protocol',
      { enabled_git_access_protocol: 'ssh' },
      async (world) => (await world.anonymous.get(refs(await newProject(world, { visibility: 'public' })))).status,
      200,
      403,
    ],
    [
      'D2-SETTINGS-KEY-RESTRICTION ed25519_key_restriction',
      { ed25519_key_restriction: -1 },
      async (world) =>
        (await (await world.user()).post('/user/keys', { title: 'k', key: newPublicKey('ed25519') })).status,
      201,
      400,
    ],
    [
      'custom_http_clone_url_root',
      { custom_http_clone_url_root: 'https://clone.example/' },
      async (world) => new URL((await newProject(world)).http_url_to_repo).origin === world.origin,
      true,
      false,
    ],
    [
      'receive_max_input_size',
      { receive_max_input_size: 1 },
      async (world) => (await push(world, 1_500_000)).went,
      true,
      false,
    ],
    [
      'repository_size_limit',
      { repository_size_limit: 1 },
      async (world) => {
        const project = await newProject(world, { initialize_with_readme: true })
        const large = 2 * 1024 * 1024
        await changeStatistics(world, project.id, { repository_size: large })
        return [await writesCommit(world, project), await lfsBatch(world, 1, project)]
      },
      [201, 200],
      [400, 403],
    ],
    [
      'diff_max_patch_bytes',
      { diff_max_patch_bytes: 400_000 },
      async (world) => {
        const { id } = await newProject(world)
        const actions = [{ action: 'create', file_path: 'a', content: 'a line of the file\n'.repeat(10_000) }]
        const commit = { branch: 'main', commit_message: 'One', actions }
        const sha = (await world.root.post(`/projects/${id}/repository/commits`, commit)).json.id
        return (await world.root.get(`/projects/${id}/repository/commits/${sha}/diff`)).json[0].diff.length > 0
      },
      false,
      true,
    ],
    ['lfs_enabled', { lfs_enabled: false }, (world) => lfsBatch(world, 1), 200, 501],
    ['max_lfs_object_size', { max_lfs_object_size: 1 }, (world) => lfsBatch(world, 2_000_000), 200, 422],
  ],
  // Tested elsewhere, because it takes several steps.
  [
    'push_event_hooks_limit',
    'repo_storage_timeout_default',
    'repo_storage_timeout_fast',
    'repo_storage_timeout_medium',
    'repository_checks_enabled',
    'rsa_key_restriction',
    'dsa_key_restriction',
    'ecdsa_key_restriction',
  ],
)
