import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, vi } from 'vitest'
import { entry, made, packOf as packWith } from '../../../../test/made-packs.ts'
import { gitSsh, hasSsh, sshUrl, withKey } from '../../../../test/ssh.ts'
import { git, type TestProject, temporaryFolder, test, unique, type World } from '../../../../test/world.ts'
import { testEnv } from '../../../git/testing.ts'
import { repositoryOf } from '../../lifecycle/remotes/testing.ts'
import { gitCommands, linesOf } from '../../repository/commits/testing.ts'

/** A project and a working copy with a commit, which was pushed to `main`. */
async function pushed(world: World, work: string, project?: TestProject) {
  const target = project ?? (await world.project())
  const url = world.remote(target, world.root)
  await git(work, 'init', '-q', '-b', 'main')
  const commit = async (name: string, text: string) => {
    await writeFile(join(work, name), text)
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', `Change ${name}`)
    return (await git(work, 'rev-parse', 'HEAD')).trim()
  }
  await commit('file', 'one\n')
  await git(work, 'push', '-q', url, 'main')
  const folder = await repositoryOf(world, target.id)
  const tip = async (branch: string) =>
    (await world.root.get(`/projects/${target.id}/repository/branches/${branch}`)).json.commit?.id
  return {
    project: target,
    url,
    commit,
    tip,
    push: (...words: string[]) => git(work, 'push', ...words),
    leftovers: async () => (await readdir(join(folder, 'objects'))).filter((name) => name.startsWith('tmp_')),
    folder,
  }
}

const subcommands = async (world: World, work: () => Promise<unknown>): Promise<string[]> =>
  (await gitCommands(world, work)).map((words) => words.replace(/^--git-dir=\S+ /, '').split(' ')[0]!)

const packet = (text: string): string => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
const zero = '0'.repeat(40)
const able = 'report-status-v2 side-band-64k object-format=sha1 agent=test'

/** Posts a push as it is; resolves with the response as text. */
async function post(world: World, { full_path }: TestProject, body: Buffer | string): Promise<string> {
  const answer = await fetch(`${world.origin}/${full_path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(Buffer.from(body)),
  })
  return answer.text()
}

/** A pack of these objects of a working copy alone. */
const packOf = (work: string, oids: readonly string[]): Buffer =>
  execFileSync('git', ['-C', work, 'pack-objects', '--stdout', '-q'], {
    input: `${oids.join('\n')}\n`,
    env: { ...process.env, ...testEnv },
  })

const pushOf = (commands: readonly string[], pack: Buffer, capabilities = able): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${commands.map((line, index) => packet(index === 0 ? `${line}\0 ${capabilities}` : line)).join('')}0000`,
    ),
    pack,
  ])

/**
 * A request for a push whose first bytes have been sent. `begun` resolves when the service reads them: it has admitted the caller then. `finish` sends
 * the others and resolves with the response.
 */
function beginPush(world: World, { full_path }: TestProject, whole: Buffer, first: number) {
  const socket = connect(Number(new URL(world.origin).port), '127.0.0.1')
  const credentials = Buffer.from(`root:${world.root.token}`).toString('base64')
  socket.write(
    `POST /${full_path}.git/git-receive-pack HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Basic ${credentials}\r\n` +
      `content-type: application/x-git-receive-pack-request\r\ncontent-length: ${whole.length}\r\n` +
      'expect: 100-continue\r\n\r\n',
  )
  socket.write(whole.subarray(0, first))
  const continues = 'HTTP/1.1 100 Continue\r\n\r\n'
  let said = ''
  const ended = once(socket, 'end')
  const begun = Promise.withResolvers<void>()
  socket.on('data', (chunk) => {
    said += chunk
    if (said.startsWith(continues)) begun.resolve()
  })
  return {
    begun: begun.promise,
    async finish(): Promise<string> {
      socket.write(whole.subarray(first))
      await ended
      return said.replace(continues, '')
    },
  }
}

describe('a small push', () => {
  test('needs no process', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { url, commit, push, tip } = await pushed(world, folder.path)
    const second = await commit('file', 'two\n')
    expect(await subcommands(world, () => push('-q', url, 'main'))).toEqual([])
    expect(await tip('main')).toBe(second)
    expect(await subcommands(world, () => push('-q', url, 'main:other'))).toEqual([])
    expect(await tip('other')).toBe(second)
  })

  test('has each of its processes in the share of its user', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, url, commit, push } = await pushed(world, folder.path)
    await world.root.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^Change' })
    await commit('file', 'two\n')
    const { runner } = (await world.app.open(null)).git
    const starts = vi.spyOn(runner, 'start')
    try {
      await push('-q', url, 'main')
      const transfers = starts.mock.calls.flatMap(([words, options]) =>
        options?.lane === 'transfer' ? [{ command: words[1], nested: options.nested, caller: options.caller }] : [],
      )
      const share = { nested: false, caller: `user ${world.root.id}` }
      expect(transfers).toEqual([{ command: 'rev-list', ...share }])
    } finally {
      starts.mockRestore()
    }
  })

  test.skipIf(!hasSsh)('needs the same over SSH (needs OpenSSH)', async ({ world }) => {
    await using folder = await temporaryFolder()
    await using keys = await temporaryFolder()
    const { project, commit, tip } = await pushed(world, folder.path)
    const key = await withKey(keys.path, world.root)
    const url = sshUrl(world, project)
    const push = async (...words: string[]) => {
      const outcome = await gitSsh(world, key, folder.path, 'push', ...words)
      expect(outcome.code, outcome.err).toBe(0)
      return outcome.err
    }
    const second = await commit('file', 'two\n')
    expect(await subcommands(world, () => push(url, 'main'))).toEqual([])
    expect(await tip('main')).toBe(second)
    expect(await subcommands(world, () => push(url, 'main:topic'))).toEqual([])
    expect(await tip('topic')).toBe(second)
    expect(await push(url, 'main')).toContain('Everything up-to-date')
    // What git receives: an annotated tag, a deletion, a branch from an earlier commit.
    await git(folder.path, 'tag', '-am', 'First', 'v1')
    await push(url, 'v1', 'main~1:refs/heads/earlier')
    await push(url, ':topic')
    expect(
      (await git(folder.path, 'ls-remote', '--heads', world.remote(project, world.root))).split('\n'),
    ).toHaveLength(2)
  })

  test('needs no process for an earlier commit of a branch, and one for the ref of an annotated tag', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const { url, commit, push, tip } = await pushed(world, folder.path)
    for (const text of ['two', 'three', 'four']) await commit('file', `${text}\n`)
    await push('-q', url, 'main')
    await git(folder.path, 'switch', '-q', '-c', 'topic', 'main~2')
    const topic = await commit('other', 'text\n')
    expect(await subcommands(world, () => push('-q', url, 'topic'))).toEqual([])
    expect(await tip('topic')).toBe(topic)
    expect(await subcommands(world, () => push('-q', url, 'main~2:refs/heads/earlier'))).toEqual([])
    await git(folder.path, 'tag', '-am', 'First', 'v1', 'main~1')
    expect(await subcommands(world, () => push('-q', url, 'v1'))).toEqual(['update-ref'])
    const refs = await git(folder.path, 'ls-remote', url, 'v1', 'v1^{}')
    expect(refs).toContain((await git(folder.path, 'rev-parse', 'v1^{commit}')).trim())
  })

  test('of an annotated tag to a branch is refused: a branch is at a commit', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { url, push, tip } = await pushed(world, folder.path)
    await git(folder.path, 'tag', '-am', 'First', 'v1')
    const refused = (...words: string[]) => expect(push(...words)).rejects.toThrow(/remote rejected/)
    await refused(url, 'v1:refs/heads/tagged')
    await push('-q', url, 'v1')
    // The object is there now.
    await refused(url, 'v1:refs/heads/tagged')
    await refused('--force', url, 'v1:refs/heads/main')
    expect(await tip('tagged')).toBeUndefined()
    expect(await tip('main')).toBe((await git(folder.path, 'rev-parse', 'main')).trim())
  })

  test('is the same to the client as one that git receives: messages, refusals, and what has moved', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const developer = await world.user()
    const project = await world.project({ members: [[developer, 'developer']] })
    const { commit, tip, leftovers } = await pushed(world, folder.path, project)
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'closed', push_access_level: 40 })
    const second = await commit('file', 'two\n')
    const url = world.remote(project, developer)
    const failed = async (...words: string[]): Promise<string> =>
      git(folder.path, 'push', ...words).then(
        () => 'pushed',
        (error: Error) => error.message,
      )
    const refused =
      /remote: You are not allowed to (?:push|create)[\s\S]*! \[remote rejected\] main -> closed \(pre-receive hook declined\)/
    expect(await failed(url, 'main:closed')).toMatch(refused)
    expect(await failed(url, 'main:open', 'main:closed')).toMatch(refused)
    expect([await tip('open'), await tip('closed')]).toEqual([undefined, undefined])
    expect(await leftovers()).toEqual([])
    // A link to create a merge request.
    expect(await git(folder.path, 'push', '--porcelain', url, 'main:open')).toContain('Done')
    expect(await tip('open')).toBe(second)
    // The name of another ref is a folder of this one.
    expect(await failed('--atomic', url, 'main:refs/heads/open/below', 'main:fine')).toMatch(/remote rejected/)
    expect(await tip('fine')).toBeUndefined()
    expect(await failed(url, 'main:refs/heads/open/below', 'main:fine')).toMatch(/remote rejected/)
    expect(await tip('fine')).toBe(second)
  })

  test('that refers to a missing object is refused, and leaves nothing', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, commit, tip, leftovers } = await pushed(world, folder.path)
    const first = await tip('main')
    const second = await commit('dir', 'two\n')
    const [commitOid, tree, blob] = (await git(folder.path, 'rev-parse', 'HEAD', 'HEAD^{tree}', 'HEAD:dir'))
      .trim()
      .split('\n') as [string, string, string]
    expect(commitOid).toBe(second)
    const of = (...oids: string[]) => pushOf([`${first} ${second} refs/heads/main`], packOf(folder.path, oids))
    for (const oids of [[commitOid], [commitOid, tree], [commitOid, blob], [tree, blob]])
      expect(await post(world, project, of(...oids)), oids.join()).toMatch(/ng refs\/heads\/main|unpack (?!ok)/)
    expect(await tip('main')).toBe(first)
    expect(await leftovers()).toEqual([])
    expect(await post(world, project, of(commitOid, tree, blob))).toContain('ok refs/heads/main')
    expect(await tip('main')).toBe(second)
  })

  test('of a commit whose parent is an annotated tag is refused', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, tip, leftovers } = await pushed(world, folder.path)
    const first = await tip('main')
    await git(folder.path, 'tag', '-am', 'First', 'v1')
    const [tag, tree] = linesOf(await git(folder.path, 'rev-parse', 'v1', 'HEAD^{tree}'))
    const person = 'A <a@b> 1700000000 +0000'
    for (const parents of [[first, tag], [tag, first], [tag]]) {
      const content = `tree ${tree}\n${parents.map((oid) => `parent ${oid}\n`).join('')}author ${person}\ncommitter ${person}\n\nMerge\n`
      const merge = made('commit', Buffer.from(content))
      const pack = packWith([
        entry('tag', Buffer.from(await git(folder.path, 'cat-file', 'tag', 'v1'))),
        entry('commit', merge.content),
      ])
      const answer = await post(world, project, pushOf([`${zero} ${merge.oid} refs/heads/merge`], pack))
      expect(answer, parents.join()).toMatch(/ng refs\/heads\/merge|unpack (?!ok)/)
    }
    expect(await leftovers()).toEqual([])
  })

  test('with many old commits as parents is left to git, which walks the history once', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, commit, push, url, tip } = await pushed(world, folder.path)
    for (let n = 0; n < 30; n++) await commit('file', `${n}\n`)
    await push('-q', url, 'main')
    const [tree, ...old] = linesOf(await git(folder.path, 'rev-parse', 'HEAD^{tree}')).concat(
      linesOf(await git(folder.path, 'rev-list', 'HEAD~1')),
    )
    const person = 'A <a@b> 1700000000 +0000'
    const pushMerge = async (parents: readonly string[], branch: string) => {
      const lines = [await tip('main'), ...parents].map((oid) => `parent ${oid}\n`).join('')
      const merge = made(
        'commit',
        Buffer.from(`tree ${tree}\n${lines}author ${person}\ncommitter ${person}\n\nMerge\n`),
      )
      const body = pushOf([`${zero} ${merge.oid} refs/heads/${branch}`], packWith([entry('commit', merge.content)]))
      const started = await subcommands(world, async () => {
        expect(await post(world, project, body)).toContain(`ok refs/heads/${branch}`)
      })
      return started.includes('receive-pack')
    }
    expect(await pushMerge(old.slice(0, 5), 'few')).toBe(false)
    expect(await pushMerge(old.slice(0, 25), 'many')).toBe(true)
  })

  test('with an object that is not well-formed is refused as by git', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, tip, leftovers } = await pushed(world, folder.path)
    const first = await tip('main')
    const stored = (type: string, input: string | Buffer) =>
      execFileSync('git', ['-C', folder.path, 'hash-object', '-t', type, '-w', '--stdin', '--literally'], {
        input,
        env: { ...process.env, ...testEnv },
      })
        .toString()
        .trim()
    const tree = (await git(folder.path, 'rev-parse', 'HEAD^{tree}')).trim()
    const good = 'author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n'
    const bad: [string, string][] = [
      ['badTimezone', `tree ${tree}\nparent ${first}\n${good.replace('+0000', '+00')}`],
      ['missingEmail', `tree ${tree}\nparent ${first}\n${good.replace(' <a@b>', '')}`],
      ['nulInCommit', `tree ${tree}\nparent ${first}\n${good}\0`],
    ]
    for (const [name, text] of bad) {
      const oid = stored('commit', text)
      const said = await post(world, project, pushOf([`${first} ${oid} refs/heads/main`], packOf(folder.path, [oid])))
      if (name === 'nulInCommit') continue
      expect(said, name).toContain(name)
    }
    const name = Buffer.from('100644 .git\0')
    const blob = (await git(folder.path, 'rev-parse', 'HEAD:file')).trim()
    const dotGit = stored('tree', Buffer.concat([name, Buffer.from(blob, 'hex')]))
    const oid = stored('commit', `tree ${dotGit}\nparent ${first}\n${good}`)
    const packed = packOf(folder.path, [oid, dotGit])
    expect(await post(world, project, pushOf([`${first} ${oid} refs/heads/main`], packed))).toContain('hasDotgit')
    expect(await leftovers()).toEqual([])
    expect(await tip('main')).not.toBe(oid)
  })

  test('that is cut off, damaged, or has more than a pack changes nothing, or is received whole', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, commit, tip, leftovers } = await pushed(world, folder.path)
    const first = await tip('main')
    const second = await commit('file', 'two\n')
    const oids = (await git(folder.path, 'rev-parse', 'HEAD', 'HEAD^{tree}', 'HEAD:file')).trim().split('\n')
    const whole = pushOf([`${first} ${second} refs/heads/main`], packOf(folder.path, oids))
    for (let length = whole.length - 1; length > 4; length -= 37)
      await post(world, project, whole.subarray(0, length)).catch(() => {})
    for (let at = whole.length - 1; at > whole.length - 200; at -= 23) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 0x41
      await post(world, project, damaged).catch(() => {})
    }
    const noObjects = Buffer.from('PACK\0\0\0\x02\0\0\0\0but more', 'latin1')
    const padded = Buffer.concat([noObjects, hash('sha1', noObjects, 'buffer')])
    expect(await post(world, project, pushOf([`${zero} ${first} refs/heads/padded`], padded))).toContain('ng refs/')
    expect([await tip('main'), await tip('padded')]).toEqual([first, undefined])
    expect(await leftovers()).toEqual([])
    await post(world, project, Buffer.concat([whole, Buffer.from('more')])).catch(() => {})
    await post(world, project, whole).catch(() => {})
    expect(await tip('main')).toBe(second)
  })

  test('whose request names refs that a client may not change, or twice, is left to git', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, commit, tip } = await pushed(world, folder.path)
    const first = await tip('main')
    const second = await commit('file', 'two\n')
    const oids = (await git(folder.path, 'rev-parse', 'HEAD', 'HEAD^{tree}', 'HEAD:file')).trim().split('\n')
    const pack = packOf(folder.path, oids)
    const commands = [
      [`${zero} ${second} refs/merge-requests/1/head`],
      [`${zero} ${second} refs/keep-around/${second}`],
      [`${zero} ${second} refs/heads/../../../x`],
      [`${zero} ${second} refs/heads/a..b`],
      [`${zero} ${second} HEAD`],
      [`${first} ${second} refs/heads/main`, `${first} ${second} refs/heads/main`],
      [`${second} ${second} refs/heads/main`],
    ]
    for (const each of commands) await post(world, project, pushOf(each, pack)).catch(() => {})
    expect(await tip('main')).toBe(first)
    const refs = await git(folder.path, 'ls-remote', world.remote(project, world.root))
    expect(
      refs
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[1]),
    ).toEqual(['HEAD', 'refs/heads/main'])
  })

  test('of a shallow clone without its history is refused with the reason', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { url, commit, tip, folder: gitDir } = await pushed(world, folder.path)
    await commit('file', 'two\n')
    await git(folder.path, 'push', '-q', url, 'main')
    const clone = join(folder.path, 'clone')
    await git(folder.path, 'clone', '-q', '--depth', '1', url, clone)
    // Where the history is, nothing is missing.
    await git(clone, 'commit', '-q', '--allow-empty', '-m', 'Third')
    await git(clone, 'push', '-q', url, 'HEAD:refs/heads/third')
    expect(await tip('third')).toBe((await git(clone, 'rev-parse', 'HEAD')).trim())
    expect(await git(gitDir, 'fsck', '--connectivity-only')).toBe('')
    const other = await world.project()
    const refused = git(clone, 'push', world.remote(other, world.root), 'HEAD:refs/heads/main')
    await expect(refused).rejects.toThrow(/remote: .*git fetch --unshallow[\s\S]*shallow update not allowed/)
    expect((await world.root.get(`/projects/${other.id}/repository/branches`)).json).toEqual([])
  })

  test('to a branch whose commit has been lost repairs the branch', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, folder: gitDir, commit, tip } = await pushed(world, folder.path)
    const lost = '6'.repeat(40)
    await writeFile(join(gitDir, 'refs/heads/damaged'), `${lost}\n`)
    await commit('file', 'two\n')
    const third = await commit('file', 'three\n')
    const all = (await git(folder.path, 'rev-list', '--objects', '--no-object-names', 'HEAD')).trim().split('\n')
    const pack = packOf(folder.path, all)
    const said = await post(world, project, pushOf([`${lost} ${third} refs/heads/damaged`], pack))
    expect(said).toContain('ok refs/heads/damaged')
    expect(await tip('damaged')).toBe(third)
    expect((await world.root.get(`/projects/${project.id}/events`)).json[0].push_data).toMatchObject({
      commit_from: lost,
      commit_to: third,
    })
  })

  test('of twelve at once to one branch, one moves it', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, tip, leftovers } = await pushed(world, folder.path)
    const first = await tip('main')
    const bodies: { oid: string; body: Buffer }[] = []
    for (let n = 0; n < 12; n++) {
      await git(folder.path, 'switch', '-q', '--detach', first)
      await writeFile(join(folder.path, 'file'), `${unique('text')}\n`)
      await git(folder.path, 'commit', '-qam', `Change ${n}`)
      const oids = (await git(folder.path, 'rev-parse', 'HEAD', 'HEAD^{tree}', 'HEAD:file')).trim().split('\n')
      bodies.push({ oid: oids[0]!, body: pushOf([`${first} ${oids[0]} refs/heads/main`], packOf(folder.path, oids)) })
    }
    const answers = await Promise.all(bodies.map(({ body }) => post(world, project, body)))
    const moved = answers.flatMap((text, index) => (text.includes('ok refs/heads/main') ? bodies[index]!.oid : []))
    expect(moved).toHaveLength(1)
    expect(await tip('main')).toBe(moved[0])
    expect(await leftovers()).toEqual([])
  })

  test('that arrives slowly is received by git meanwhile', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, commit, tip } = await pushed(world, folder.path)
    const first = await tip('main')
    const second = await commit('file', 'two\n')
    const oids = (await git(folder.path, 'rev-parse', 'HEAD', 'HEAD^{tree}', 'HEAD:file')).trim().split('\n')
    const whole = pushOf([`${first} ${second} refs/heads/main`], packOf(folder.path, oids))
    const begun = beginPush(world, project, whole, 50)
    const started = await subcommands(world, () => delay(1500))
    // A reader tells whether the repository has lost commits.
    expect(started.sort()).toEqual(['cat-file', 'receive-pack'])
    const said = await begun.finish()
    expect(said).toContain('ok refs/heads/main')
    expect(await tip('main')).toBe(second)
  })

  test('to a repository that is deleted meanwhile is refused with the reason', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { project, commit, tip, folder: gitDir } = await pushed(world, folder.path)
    const first = await tip('main')
    const second = await commit('file', 'two\n')
    const oids = (await git(folder.path, 'rev-parse', 'HEAD', 'HEAD^{tree}', 'HEAD:file')).trim().split('\n')
    const whole = pushOf([`${first} ${second} refs/heads/main`], packOf(folder.path, oids))
    const begun = beginPush(world, project, whole, whole.length - 20)
    await begun.begun
    await rm(gitDir, { recursive: true })
    expect(await begun.finish()).toMatch(/^HTTP\/1.1 422 [\s\S]*The repository does not exist/)
  })
})
