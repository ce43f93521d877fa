import { afterEach, describe, expect } from 'vitest'
import { projectRow } from '../../../../test/tables/projects.ts'
import { type Client, git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'

let changed: World | undefined
const setting = (world: World, default_branch_protection: number) => {
  changed = world
  return world.settings({ default_branch_protection })
}
afterEach(async () => {
  await changed?.settings({ default_branch_protection: 2 })
  changed = undefined
})

/** Pushes a new commit; returns the message of git, or `pushed`. */
async function push(
  world: World,
  folder: string,
  project: TestProject,
  who: Client,
  ...refs: string[]
): Promise<string> {
  await git(folder, 'init', '-q', '-b', 'main')
  await git(folder, 'commit', '-q', '--allow-empty', '-m', `A commit ${Math.random()}`)
  return git(folder, 'push', '-q', world.remote(project, who), ...refs).then(
    () => 'pushed',
    (error: { stderr: string }) => error.stderr,
  )
}

describe('D2-SETTINGS-BRANCH-PROTECTION: the first branch of an empty repository', () => {
  test.for([
    { value: 0, developer: true, push: undefined, merge: undefined },
    { value: 1, developer: true, push: 30, merge: 40 },
    { value: 2, developer: false, push: 40, merge: 40 },
    { value: 3, developer: false, push: 40, merge: 30 },
  ] as const)('$value: first push by a developer $developer; then push $push, merge $merge', async (row, { world }) => {
    await using folder = await temporaryFolder()
    await setting(world, row.value)
    const [ann, mia] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'developer'],
        [mia, 'maintainer'],
      ],
    })
    const first = await push(world, folder.path, project, ann, 'main')
    if (row.developer) expect(first).toBe('pushed')
    else {
      expect(first).toMatch(/A default branch \(e\.g\. master\) does not yet exist for/)
      expect(first).toContain(`${world.config.externalUrl}/${project.full_path}/-/project_members`)
      expect(await push(world, folder.path, project, mia, 'main')).toBe('pushed')
    }
    const rules = (await mia.get(`/projects/${project.id}/protected_branches`)).json
    if (row.push === undefined) expect(rules).toEqual([])
    else
      expect(rules).toMatchObject([
        {
          name: 'main',
          push_access_levels: [{ access_level: row.push }],
          merge_access_levels: [{ access_level: row.merge }],
        },
      ])
    const branch = (await ann.get(`/projects/${project.id}/repository/branches/main`)).json
    expect(branch).toMatchObject({
      default: true,
      protected: row.push !== undefined,
      developers_can_push: row.push === 30,
      developers_can_merge: row.merge === 30,
      can_push: row.push !== 40,
    })
    expect((await push(world, folder.path, project, ann, 'HEAD:main')) === 'pushed').toBe(row.push !== 40)
  })

  test('a developer cannot create another first branch either, but a tag', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    expect(await push(world, folder.path, project, ann, 'HEAD:refs/heads/x')).toMatch(/does not yet exist/)
    expect(await push(world, folder.path, project, ann, 'HEAD:refs/tags/x')).toBe('pushed')
    expect((await ann.get(`/projects/${project.id}/protected_branches`)).status).toBe(403)
    expect(await projectRow(world, project.id, 'default_branch')).toEqual([{ default_branch: null }])
  })

  test('owners of a personal namespace push first, and a rule can allow developers to', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const { json } = await ann.post('/projects', { name: 'Mine' })
    const own = { ...json, full_path: json.path_with_namespace, url: `${world.origin}/${json.path_with_namespace}.git` }
    expect(await push(world, folder.path, own, ann, 'main')).toBe('pushed')
    const project = await world.project({ members: [[bob, 'developer']] })
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'ma*', push_access_level: 30 })
    expect(await push(world, folder.path, project, bob, 'main')).toBe('pushed')
    // The rule that matches it suffices.
    expect((await world.root.get(`/projects/${project.id}/protected_branches`)).json).toMatchObject([{ name: 'ma*' }])
  })

  test('the default branch is protected once, also when created by a README or several branches', async ({ world }) => {
    await using folder = await temporaryFolder()
    const made = await world.root.post('/projects', {
      name: `Read ${Math.random()}`.replace('.', ''),
      initialize_with_readme: true,
    })
    expect((await world.root.get(`/projects/${made.json.id}/protected_branches`)).json).toMatchObject([
      { name: 'master' },
    ])
    const project = await world.project()
    await push(world, folder.path, project, world.root, 'HEAD:b', 'HEAD:main', 'HEAD:a')
    expect((await world.root.get(`/projects/${project.id}/protected_branches`)).json).toMatchObject([{ name: 'main' }])
  })

  test('an accepted push shows no messages of the server', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    await push(world, folder.path, project, world.root, 'main')
    await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'Second')
    // On a terminal; with -q, a client suppresses some lines.
    const shown = await git(
      folder.path,
      '-c',
      'alias.both=!git push "$@" 2>&1; :',
      'both',
      world.remote(project, world.root),
      'main',
    )
    expect(shown).toMatch(/main -> main/)
    expect(shown).not.toMatch(/remote:/)
  })
})
