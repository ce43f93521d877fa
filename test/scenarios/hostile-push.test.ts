import { describe, expect } from 'vitest'
import { movedRefs } from '../tables/pushes.ts'
import { type Client, git, type TestProject, temporaryFolder, test, type World } from '../world.ts'

const zero = '0'.repeat(40)
const absent = 'deadbeef'.repeat(5)

type Command = readonly [from: string, to: string, ref: string]

const packet = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text

/** Sends the commands of a push without objects, which no git client does. Resolves with the report. */
async function send(
  who: Client,
  project: TestProject,
  commands: readonly Command[],
  capabilities = '',
): Promise<string> {
  const lines = commands.map(([from, to, ref], index) =>
    packet(`${from} ${to} ${ref}${index === 0 ? `\0report-status ${capabilities}` : ''}`),
  )
  // An empty pack, which git requires unless all commands delete.
  const emptyPack = Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex')
  const { status, text } = await who.send('POST', `//${project.full_path}.git/git-receive-pack`, {
    headers: {
      'content-type': 'application/x-git-receive-pack-request',
      authorization: `Basic ${Buffer.from(`${who.username}:${who.token}`).toString('base64')}`,
    },
    body: Buffer.concat([
      Buffer.from(`${lines.join('')}0000`),
      commands.every(([, to]) => to === zero) ? Buffer.alloc(0) : emptyPack,
    ]),
  })
  expect(status).toBe(200)
  return text
}

const refsOf = async (world: World, project: TestProject): Promise<string[]> => {
  await using folder = await temporaryFolder()
  const text = await git(folder.path, 'ls-remote', world.remote(project, world.root))
  return text.split('\n').map((line) => line.split('\t')[1]!)
}

const journal = (world: World, project: TestProject): Promise<{ ref: string; from: string; to: string }[]> =>
  movedRefs(world, project.id)

const feed = async (world: World, project: TestProject): Promise<string[]> =>
  (await world.root.get(`/projects/${project.id}/events`)).json.map(
    ({ push_data }: { push_data?: { action: string; ref: string } }) => `${push_data?.action} ${push_data?.ref}`,
  )

async function withMain(world: World): Promise<{ project: TestProject; main: string }> {
  const project = await world.project({ initialize_with_readme: true })
  const { json } = await world.root.get(`/projects/${project.id}/repository/branches/master`)
  return { project, main: json.commit.id }
}

describe('pushes that no git client sends', () => {
  test.for(['refs/heads/x.lock', 'refs/heads/a b', 'refs/heads/../x', 'refs/tags/.x', 'refs/heads/x/'])(
    'a push of a ref named %s is refused with its name',
    async (name, { world }) => {
      const { project, main } = await withMain(world)
      expect(await send(world.root, project, [[zero, main, name]], 'side-band-64k')).toContain(
        `A branch or tag cannot be called ${name}.`,
      )
      expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/master'])
    },
  )

  test('a push of a ref that is not below refs/ is refused with its name', async ({ world }) => {
    const { project, main } = await withMain(world)
    for (const name of ['HEAD', '@', 'config', 'worktrees/x/refs/heads/y'])
      expect(await send(world.root, project, [[zero, main, name]], 'side-band-64k')).toContain(
        `The reference ${name} cannot be pushed: only those below refs/ can.`,
      )
    expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/master'])
  })

  test.for(['refs/tags', 'refs/heads', 'refs/foo', 'refs/notes'])(
    'a push of a ref named %s is refused, and branches and tags can still be created',
    async (name, { world }) => {
      const { project, main } = await withMain(world)
      const report = await send(world.root, project, [[zero, main, name]])
      expect(report).toContain(`ng ${name}`)
      expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/master'])
      const tag = await world.root.post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'master' })
      expect(tag.status).toBe(201)
    },
  )

  test('a push of a ref named refs/heads to an empty project is refused and blocks no branches', async ({ world }) => {
    const project = await world.project()
    await using folder = await temporaryFolder()
    await git(folder.path, 'init', '-q', '-b', 'main')
    await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'First commit')
    const remote = world.remote(project, world.root)
    await expect(git(folder.path, 'push', remote, 'HEAD:refs/heads')).rejects.toThrow('the name needs a folder')
    await git(folder.path, 'push', '-q', remote, 'main')
    expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/main'])
  })

  test('a push of a branch and a ref directly below refs/ updates only the branch', async ({ world }) => {
    const project = await world.project()
    await using folder = await temporaryFolder()
    await git(folder.path, 'init', '-q', '-b', 'main')
    await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'First commit')
    const remote = world.remote(project, world.root)
    await expect(git(folder.path, 'push', remote, 'main', 'HEAD:refs/stash')).rejects.toThrow('the name needs a folder')
    expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/main'])
    expect(await journal(world, project)).toMatchObject([{ ref: 'refs/heads/main' }])
  })

  test.for([
    ['none', ''],
    ['none', 'atomic'],
    ['a missing commit', ''],
    ['a missing commit', 'atomic'],
  ])('a push with the old commit %s (%s) does not delete a branch', async ([old, capabilities], { world }) => {
    const { project, main } = await withMain(world)
    await send(world.root, project, [[zero, main, 'refs/heads/one']])
    await send(world.root, project, [[old === 'none' ? zero : absent, zero, 'refs/heads/one']], capabilities)
    expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/master', 'refs/heads/one'])
    expect(await journal(world, project)).toMatchObject([{ ref: 'refs/heads/master' }, { ref: 'refs/heads/one' }])
  })

  test('a push that deletes a missing ref is accepted and emits no event', async ({ world }) => {
    const { project } = await withMain(world)
    const before = await feed(world, project)
    const report = await send(world.root, project, [[zero, zero, 'refs/heads/none']])
    expect(report).toContain('ok refs/heads/none')
    expect(await journal(world, project)).toMatchObject([{ ref: 'refs/heads/master' }])
    expect(await feed(world, project)).toEqual(before)
  })

  test('a push of the same ref twice is refused with a reason', async ({ world }) => {
    const { project, main } = await withMain(world)
    const report = await send(world.root, project, [
      [zero, main, 'refs/heads/twice'],
      [zero, main, 'refs/heads/twice'],
    ])
    expect(report).toContain('ng refs/heads/twice')
    expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/master'])
  })

  test('a push of a ref name with a line break is refused, including its second line', async ({ world }) => {
    const { project, main } = await withMain(world)
    const report = await send(world.root, project, [[zero, main, `refs/heads/one\n${zero} ${main} refs/heads/two`]])
    expect(report).toContain('ng refs/heads/one')
    expect(await refsOf(world, project)).toEqual(['HEAD', 'refs/heads/master'])
  })
})
