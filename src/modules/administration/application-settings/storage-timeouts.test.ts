import { execFileSync } from 'node:child_process'
import { copyFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { projectRow } from '../../../../test/tables/projects.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { repositoriesDir } from '../../../config.ts'
import { writeKey } from '../../../git/repository/project-key.ts'
import { repositoryDir } from '../../projects/repositories/location.ts'

/** During `work`, every git process on this repository blocks. */
async function whileGitHangs(world: World, project: TestProject, work: () => Promise<void>): Promise<void> {
  const config = join(placeOf(world, project), 'config')
  await copyFile(config, `${config}.kept`)
  await rm(config)
  execFileSync('mkfifo', [config])
  try {
    await work()
  } finally {
    await rename(`${config}.kept`, config)
  }
}

const placeOf = (world: World, { id }: TestProject) => repositoryDir(repositoriesDir(world.config), 'default', id)

/** Adds one commit in a pack without the service, which has neither cached it nor runs a process for it. */
async function fill(world: World, project: TestProject): Promise<void> {
  const [{ repository_key }] = await projectRow(world, project.id, 'repository_key')
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await writeFile(join(folder.path, 'README.md'), 'Hello\n')
  await git(folder.path, 'add', '.')
  await git(folder.path, 'commit', '-q', '-m', 'First')
  await git(folder.path, 'gc', '-q')
  const place = placeOf(world, project)
  await git(folder.path, 'clone', '-q', '--bare', folder.path, place)
  await writeKey(place, repository_key)
}

/** Longer than the timeout of a test, so that only the timeout under test can end a request. */
const longer = {
  repo_storage_timeout_fast: 100_000,
  repo_storage_timeout_medium: 100_000,
  repo_storage_timeout_default: 100_000,
}

describe('D2-SETTINGS-STORAGE-TIMEOUTS', () => {
  test.for([
    ['default', 'commits?order=topo', { repo_storage_timeout_fast: 0, repo_storage_timeout_medium: 1 }],
    ['medium', 'files/README.md/blame?ref=HEAD', { repo_storage_timeout_fast: 0 }],
    ['fast', 'files/README.md/raw?ref=HEAD', {}],
  ] as const)('503 when git exceeds repo_storage_timeout_%s: %s', async ([name, path, smaller], { world }) => {
    const project = await world.project()
    await fill(world, project)
    const read = (what: string) => world.root.get(`/projects/${project.id}/repository/${what}`)
    const ask = () => read(path)
    // The long-lived process exists already and does not block.
    if (name !== 'fast') await read('files/README.md/raw?ref=HEAD')
    await world.settings({ ...longer, ...smaller, [`repo_storage_timeout_${name}`]: 1 })
    await whileGitHangs(world, project, async () => expect((await ask()).status).toBe(503))
    await world.settings(longer)
    expect((await ask()).status).toBe(200)
  })

  test('a repo_storage_timeout above the maximum of a timer still works', async ({ world }) => {
    const project = await world.project()
    await fill(world, project)
    const years = 100_000_000
    await world.settings({
      repo_storage_timeout_fast: years,
      repo_storage_timeout_medium: years,
      repo_storage_timeout_default: years,
    })
    for (const path of ['commits?order=topo', 'files/README.md/blame?ref=HEAD', 'files/README.md/raw?ref=HEAD'])
      expect([path, (await world.root.get(`/projects/${project.id}/repository/${path}`)).status]).toEqual([path, 200])
  })
})
