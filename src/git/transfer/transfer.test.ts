import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RefName } from '../format/ref-name.ts'
import { readBlob } from '../objects/blobs.ts'
import { readCommit } from '../objects/commits.ts'
import { findEntry } from '../objects/trees.ts'
import { listRefs, readRef } from '../refs/refs.ts'
import { updateRefs } from '../refs/update-refs.ts'
import { gitIn, TestGit, testEnv } from '../testing.ts'
import { advertise } from './advertise.ts'
import { type ReceiveOptions, receivePack, uploadPack } from './transfer.ts'
import type { PushRequest, Verdict } from './verdict.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const run = promisify(execFile)

/** Smart HTTP for one repository, as an edge would serve it. */
async function serve(
  gitDir: string,
  options: Omit<ReceiveOptions, 'onVerdict'> & { onVerdict?: ReceiveOptions['onVerdict'] } = {},
) {
  const repo = world.git.open(gitDir)
  const failures: unknown[] = []
  const messages: string[] = []
  const settings = { onVerdict: async () => ({ ok: true }), ...options }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    const protocol = request.headers['git-protocol'] as string | undefined
    try {
      const service = searchParams.get('service') ?? pathname.split('/').at(-1)!
      const isForRefs = pathname.endsWith('/info/refs')
      const mode = { ...settings, statelessRpc: true, protocol }
      response.setHeader('content-type', `application/x-${service}-${isForRefs ? 'advertisement' : 'result'}`)
      const side = service === 'git-upload-pack' ? 'upload-pack' : 'receive-pack'
      const serveSide = side === 'upload-pack' ? uploadPack : receivePack
      const { stream, done } = isForRefs ? await advertise(repo, side, { protocol }) : await serveSide(repo, mode)
      done.then(
        ({ stderr }) => stderr && messages.push(stderr),
        (error) => failures.push(error),
      )
      if (isForRefs) {
        const line = `# service=${service}\n`
        response.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
      } else {
        const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
        void pipeline(body, stream, { end: true }).catch(() => {})
      }
      stream.pipe(response)
    } catch (error) {
      failures.push(error)
      response.writeHead(500).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git`,
    failures,
    messages,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A working repository with one commit, to push from. */
async function workingCopy() {
  const folder = await mkdtemp(join(world.folder, 'work-'))
  gitIn(folder, ['init', '-q', '-b', 'main'])
  await commitIn(folder, 'one')
  return folder
}
const commitIn = async (folder: string, message: string) => {
  gitIn(folder, ['commit', '-q', '--allow-empty', '-m', message])
  return gitIn(folder, ['rev-parse', 'HEAD'])
}

/** Runs real git without blocking the server it talks to. */
const client = async (folder: string, ...args: string[]) =>
  run('git', ['-C', folder, '-c', 'protocol.version=2', ...args], {
    env: { ...testEnv, GIT_TERMINAL_PROMPT: '0' },
  }).then(
    ({ stderr, stdout }) => ({ ok: true, text: stderr + stdout }),
    (error: { stderr: string; stdout: string }) => ({ ok: false, text: error.stderr + error.stdout }),
  )

const objectsOf = async (gitDir: string) =>
  (await readdir(join(gitDir, 'objects'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)

describe('pushes', () => {
  test('a push is decided in quarantine, then applied', async () => {
    const { repo, gitDir } = await world.repository()
    const folder = await workingCopy()
    await cp(new URL(import.meta.url), join(folder, 'file.txt'))
    gitIn(folder, ['add', '.'])
    const oid = await commitIn(folder, 'two')
    const seen: { request: PushRequest; message: string | undefined; visibleBefore: unknown; entry: unknown }[] = []
    await using server = await serve(gitDir, {
      onVerdict: async (request): Promise<Verdict> => {
        const to = request.updates[0]!.to!
        const entry = await findEntry(request.quarantine, to, 'file.txt')
        seen.push({
          request,
          message: (await readCommit(request.quarantine, to))?.message,
          visibleBefore: await readCommit(repo, to),
          entry: entry && (await readBlob(request.quarantine, entry.oid))?.sizeBytes,
        })
        return { ok: true, messages: ['Welcome.', 'ok'] }
      },
    })
    const pushed = await client(
      folder,
      'push',
      '-o',
      'ci.skip',
      '-o',
      'title=a "b" $(c) ü',
      server.url,
      'main',
      'main:refs/heads/b/ü',
    )

    expect(pushed).toMatchObject({ ok: true, text: expect.stringMatching(/remote: Welcome\.\s*\nremote: ok\s*\n/) })
    expect(seen).toMatchObject([
      {
        message: 'two\n',
        visibleBefore: undefined,
        entry: expect.any(Number),
        request: {
          updates: [
            { name: 'refs/heads/main', from: null, to: oid },
            { name: 'refs/heads/b/ü', from: null, to: oid },
          ],
          pushOptions: ['ci.skip', 'title=a "b" $(c) ü'],
        },
      },
    ])
    expect(await readRef(repo, 'refs/heads/main' as RefName)).toBe(oid)
    expect((await readCommit(repo, oid as never))?.message).toBe('two\n')
    expect(server.failures).toEqual([])
  })

  test('a refused push leaves no ref and no object', async () => {
    const { repo, gitDir } = await world.repository()
    await using server = await serve(gitDir, {
      onVerdict: async () => ({ ok: false, messages: ['Not today:\nyou may not push.'] }),
    })
    const folder = await workingCopy()
    const before = await objectsOf(gitDir)

    const pushed = await client(folder, 'push', server.url, 'main')

    expect(pushed.ok).toBe(false)
    expect(pushed.text).toMatch(/remote: Not today:\s*\nremote: you may not push\.\s*\n/)
    expect(pushed.text).toContain('pre-receive hook declined')
    expect(await listRefs(repo, 'refs/')).toEqual([])
    expect(await objectsOf(gitDir)).toEqual(before)
  })

  test('a push is refused when the decision fails, and the failure is reported', async () => {
    const { repo, gitDir } = await world.repository()
    await using server = await serve(gitDir, { onVerdict: () => Promise.reject(new Error('the database is away')) })
    const pushed = await client(await workingCopy(), 'push', server.url, 'main')

    expect(pushed.ok).toBe(false)
    expect(pushed.text).not.toContain('database')
    expect(await listRefs(repo, 'refs/')).toEqual([])
    expect(server.failures).toMatchObject([{ message: 'the database is away' }])
  })

  test('a push that is too large is refused before it is stored', async () => {
    const { gitDir } = await world.repository()
    await using server = await serve(gitDir, { maxInputBytes: 100 })
    const pushed = await client(await workingCopy(), 'push', server.url, 'main')

    expect(pushed).toMatchObject({ ok: false, text: expect.stringContaining('exceeds maximum allowed size') })
    expect(await objectsOf(gitDir)).toEqual([])
  })

  test('lines after the refs have moved reach the client unchanged, but without control characters', async () => {
    const { repo, gitDir } = await world.repository()
    const oids: unknown[] = []
    await using server = await serve(gitDir, {
      onMove: async (updates) => {
        await updateRefs(
          repo,
          updates.map(({ name, to }) => ({ name, from: 'absent', to })),
        )
        return new Map(updates.map(({ name }) => [name, 'moved']))
      },
      afterMoves: async () => {
        oids.push(await readRef(repo, 'refs/heads/ünder/\u0101' as RefName))
        return ['Ünder \u0101: 100% \\n \\0101 `x` $HOME "q" \'r\'', '  two\nthree', 'a\x1b[2Jb\u009b2J', '']
      },
    })
    const folder = await workingCopy()
    const pushed = await client(folder, 'push', server.url, 'main:ünder/\u0101')
    expect(pushed.ok).toBe(true)
    const shown = pushed.text.split('\n').filter((line) => line.startsWith('remote:'))
    expect(shown.map((line) => line.trimEnd())).toEqual([
      'remote: Ünder \u0101: 100% \\n \\0101 `x` $HOME "q" \'r\'',
      'remote:   two',
      'remote: three',
      'remote: a?[2Jb?2J',
      'remote:',
    ])
    expect(oids).toEqual([gitIn(folder, ['rev-parse', 'HEAD'])])
    expect(server.failures).toEqual([])
  })

  test('a push whose refs cannot be moved fails without further lines', async () => {
    const { repo, gitDir } = await world.repository()
    await using server = await serve(gitDir, {
      onMove: () => Promise.reject(new Error('the disk is full')),
      afterMoves: async () => ['never shown'],
    })
    const pushed = await client(await workingCopy(), 'push', server.url, 'main')
    expect(pushed).toMatchObject({ ok: false, text: expect.not.stringContaining('never shown') })
    expect(await listRefs(repo, 'refs/')).toEqual([])
    expect(server.failures).toMatchObject([{ message: 'the disk is full' }])
  })

  test('a push of 600 refs is decided at once', async () => {
    const { repo, gitDir } = await world.repository()
    const counts: number[] = []
    await using server = await serve(gitDir, {
      onVerdict: async ({ updates }) => {
        counts.push(updates.length)
        return { ok: true }
      },
    })
    const folder = await workingCopy()
    const oid = gitIn(folder, ['rev-parse', 'HEAD'])
    gitIn(
      folder,
      ['update-ref', '--stdin'],
      Array.from({ length: 600 }, (_, n) => `create refs/heads/b${n} ${oid}\n`).join(''),
    )

    expect(await client(folder, 'push', server.url, 'refs/heads/b*:refs/heads/b*')).toMatchObject({ ok: true })
    expect(counts).toEqual([600])
    expect(await listRefs(repo, 'refs/heads/')).toHaveLength(600)
  })

  test('a push cannot change refs of the server or see hidden refs', async () => {
    const made = await world.repository()
    const oid = made.commit({ a: 'a' })
    for (const ref of ['refs/merge-requests/1/head', 'refs/stithy/undo/1', 'refs/keep-around/x'])
      made.git('update-ref', ref, oid)
    await using server = await serve(made.gitDir)
    const folder = await workingCopy()

    const listed = await client(folder, 'ls-remote', server.url)
    expect(listed.text).toContain('refs/merge-requests/1/head')
    expect(listed.text).not.toMatch(/stithy|keep-around/)
    for (const ref of ['refs/merge-requests/1/head', 'refs/stithy/undo/1', 'refs/keep-around/x']) {
      expect(await client(folder, 'push', '-f', server.url, `main:${ref}`)).toMatchObject({ ok: false })
      expect(made.git('rev-parse', ref)).toBe(oid)
    }
  })

  test('a permitted push deletes a branch, the default branch too', async () => {
    const made = await world.repository()
    const oid = made.commit({ a: 'a' })
    const updates: unknown[] = []
    await using server = await serve(made.gitDir, {
      onVerdict: async (request) => {
        updates.push(...request.updates)
        return { ok: true }
      },
    })

    expect(await client(await workingCopy(), 'push', server.url, ':main')).toEqual({
      ok: true,
      text: expect.stringContaining('[deleted]'),
    })
    expect(updates).toEqual([{ name: 'refs/heads/main', from: oid, to: null }])
    expect(await listRefs(made.repo, 'refs/')).toEqual([])
  })
})

describe('fetches', () => {
  test('full, shallow and partial clones work', async () => {
    const made = await world.repository()
    made.commit({ a: 'a', big: Buffer.alloc(300_000, 'x') })
    const tip = made.commit({ a: 'b' })
    await using server = await serve(made.gitDir)
    for (const flags of [[], ['--depth=1'], ['--filter=blob:none', '--no-checkout']]) {
      const folder = await mkdtemp(join(world.folder, 'clone-'))
      expect(await client(folder, 'clone', '-q', ...flags, server.url, 'x')).toEqual({ ok: true, text: '' })
      expect(gitIn(join(folder, 'x'), ['rev-parse', 'HEAD'])).toBe(tip)
      expect(Number(gitIn(join(folder, 'x'), ['rev-list', '--count', 'HEAD']))).toBe(flags[0] === '--depth=1' ? 1 : 2)
    }
    expect([...server.failures, ...server.messages]).toEqual([])
  })

  test('a fetch of a missing repository is that of an empty repository', async () => {
    await using server = await serve(join(world.folder, 'never.git'))
    expect(await client(world.folder, 'ls-remote', server.url)).toEqual({ ok: true, text: '' })
  })

  test('a fetch ends when nothing moves until the idle timeout', async () => {
    const made = await world.repository()
    made.commit({ a: 'a' })
    const { stream, done } = await uploadPack(made.repo, { idleMs: 100 })
    stream.resume()
    expect(await done).toMatchObject({ signal: 'SIGTERM' })
  })

  test.each([
    ['version=2', 'version 2'],
    ['foo:version=2', 'version 2'],
    ['version=1', 'version 1'],
    ['version=9', 'refs/heads/main'],
    ['version=2\nX=1', 'refs/heads/main'],
    [undefined, 'refs/heads/main'],
  ])('the fetch protocol follows GIT_PROTOCOL=%j', async (protocol, expected) => {
    const made = await world.repository()
    made.commit({ a: 'a' })
    const { stream, done } = await advertise(made.repo, 'upload-pack', { protocol })
    const text = Buffer.concat(await stream.toArray()).toString()
    expect(await done).toMatchObject({ code: 0 })
    expect(text.split('\0')[0]!.slice(0, 80)).toContain(expected === 'refs/heads/main' ? 'HEAD' : expected)
  })
})

test('a push to a repository that was never created fails with unprocessable', async () => {
  const repo = world.git.open(join(world.folder, 'none.git'))
  await expect(receivePack(repo, { onVerdict: async () => ({ ok: true }) })).rejects.toMatchObject({
    kind: 'unprocessable',
  })
  await rm(join(world.folder, 'none.git'), { recursive: true, force: true })
})
