import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { deployKey, hasSsh, sshRefusals, withKey } from '../ssh.ts'
import { developerIn, fetchSession, packet, pushSession, session } from '../ssh-sessions.ts'
import { type Client, temporaryFolder, test, type World } from '../world.ts'

const { missing } = sshRefusals

type End = (world: World, ann: Client, projectId: number) => Promise<unknown>

const lostRights: readonly [what: string, message: string, end: End][] = [
  ['the membership ends', missing, (world, ann, id) => world.root.delete(`/projects/${id}/members/${ann.id}`)],
  ['the account is blocked', 'any more', (world, ann) => world.root.post(`/users/${ann.id}/block`)],
  [
    'the key is removed',
    'any more',
    async (_world, ann) => ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`),
  ],
]

describe.skipIf(!hasSsh)('git over SSH (needs OpenSSH)', () => {
  test.for(lostRights)('an open session tells nothing new once %s', async ([, message, end], { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const session = await fetchSession(world, key, project.full_path)
    const later = await fetchSession(world, key, project.full_path)
    expect(await session.refs('refs/tags/')).toBe('0000')
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'new', ref: 'master' })
    // Longer than the rights of a session are trusted.
    await sleep(1000)
    expect(await session.refs('refs/heads/')).toContain('refs/heads/new')
    await end(world, ann, project.id)
    const answer = await later.refs('refs/heads/')
    expect(answer).not.toContain('refs/heads/new')
    expect(answer).toContain(message)
    later.end()
    session.end()
  })

  test.for(lostRights)('a push that has begun is refused once %s', async ([, , end], { world }) => {
    await using folder = await temporaryFolder()
    const { ann, key, project, at, main } = await developerIn(world, folder.path)
    const push = await pushSession(world, key, project.full_path, main.commit.id)
    await end(world, ann, project.id)
    expect(await push.complete()).toContain('pre-receive hook declined')
    expect((await world.root.get(at)).json).toHaveLength(1)
  })

  test('a first push creates no project once the key is removed', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const push = await pushSession(world, key, `${ann.username}/late`, '1'.repeat(40))
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    expect(await push.complete()).toContain('This key may not be used any more.')
    expect(await ann.get(`/projects/${encodeURIComponent(`${ann.username}/late`)}`)).toMatchObject({ status: 404 })
  })

  test('a push that takes long is accepted while its key is valid', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const at = `/projects/${project.id}/repository/branches`
    const [main] = (await world.root.get(at)).json
    const push = await pushSession(world, await withKey(folder.path, ann), project.full_path, main.commit.id)
    expect(await push.complete()).toContain('ok refs/heads/late')
    const robot = await deployKey(world, folder.path, project, true)
    await world.root.delete(`${at}/late`)
    const again = await pushSession(world, robot, project.full_path, main.commit.id)
    expect(await again.complete()).toContain('ok refs/heads/late')
  })

  test.for(lostRights)('an archive requested late has nothing new once %s', async ([, message, end], { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const request = `${packet('argument --format=tar\n')}${packet('argument master\n')}0000`
    const [before, after] = await Promise.all(
      [1, 2].map(() => session(world, key, `git-upload-archive '${project.full_path}.git'`)),
    )
    before!.channel.end(request)
    await expect.poll(() => before!.isClosed).toBe(true)
    expect(before!.received).toContain('README.md')
    await end(world, ann, project.id)
    after!.channel.end(request)
    await expect.poll(() => after!.isClosed).toBe(true)
    expect(after!.received).not.toContain('README.md')
    expect(after!.messages).toContain(message)
    before!.end()
    after!.end()
  })

  test.for(
    lostRights.flatMap(([what, message, end]) =>
      ([0, 1] as const).map((version) => [version, what, message, end] as const),
    ),
  )(
    'a fetch by protocol %d gets nothing that is requested late once %s',
    async ([version, , message, end], { world }) => {
      await using folder = await temporaryFolder()
      const ann = await world.user()
      const key = await withKey(folder.path, ann)
      const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
      const [before, after] = await Promise.all(
        [1, 2].map(() =>
          session(world, key, `git-upload-pack '${project.full_path}.git'`, { GIT_PROTOCOL: `version=${version}` }),
        ),
      )
      for (const opened of [before!, after!]) await expect.poll(() => opened.received.endsWith('0000')).toBe(true)
      const oid = /([0-9a-f]{40}) refs\/heads\/master/.exec(after!.received)![1]!
      // Longer than the rights of a session are trusted.
      await sleep(1000)
      const request = `${packet(`want ${oid}\n`)}0000${packet('done\n')}`
      before!.channel.end(request)
      await expect.poll(() => before!.isClosed).toBe(true)
      expect(before!.received).toContain('PACK')
      await end(world, ann, project.id)
      after!.channel.end(request)
      await expect.poll(() => after!.isClosed).toBe(true)
      expect(after!.received).not.toContain('PACK')
      expect(after!.messages).toContain(message)
      before!.end()
      after!.end()
    },
  )
})
