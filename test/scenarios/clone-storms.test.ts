import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { FetchSharingOptions } from '../../src/git/sharing/fetch-sharing.ts'
import { type StoredProject, storedProject } from '../../src/modules/repository/commits/testing.ts'
import { RecordedPacks } from '../recorded-packs.ts'
import { gitSsh, hasSsh, sshUrl, sshWords, withKey } from '../ssh.ts'
import { type Client, git, temporaryFolder, World } from '../world.ts'

class Storm implements AsyncDisposable {
  readonly world: World
  readonly project: StoredProject
  readonly #packs: RecordedPacks

  private constructor(world: World, project: StoredProject, packs: RecordedPacks) {
    this.world = world
    this.project = project
    this.#packs = packs
  }

  static async start(sharing: Partial<FetchSharingOptions> = {}): Promise<Storm> {
    const before = process.env['PATH']
    const packs = new RecordedPacks()
    try {
      process.env['PATH'] = packs.path
      const world = await World.start({}, { sharing })
      const project = await storedProject(world)
      for (const name of ['a', 'b', 'c', 'd']) project.repository.commit({ [name]: randomBytes(500_000) })
      return new Storm(world, project, packs)
    } finally {
      process.env['PATH'] = before
    }
  }

  get url(): string {
    return `${this.world.origin}/${this.project.full_path}.git`
  }

  /** The ids of the processes that made a pack. */
  get packs(): number[] {
    return this.#packs.ids
  }

  /** Lets no pack begin until it is called again with false. */
  hold(isHeld: boolean): void {
    this.#packs.hold(isHeld)
  }

  cutNext(): void {
    this.#packs.cutNext()
  }

  /** Clones, checks every object, and returns the number of commits. */
  async clone(...options: string[]): Promise<number> {
    await using folder = await temporaryFolder()
    await git(folder.path, 'clone', '--quiet', '--bare', ...options, this.url, 'clone.git')
    return await commitsOf(join(folder.path, 'clone.git'))
  }

  /** Asks for all objects as a clone does, and returns the response as it begins. */
  async ask(project = this.project): Promise<IncomingMessage & AsyncDisposable> {
    const sent = httpRequest(`${this.world.origin}/${project.full_path}.git/git-upload-pack`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
    })
    sent.on('error', () => {})
    sent.end(wantOf(project))
    const response = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve))
    response.on('error', () => {})
    return Object.assign(response, { [Symbol.asyncDispose]: async () => void sent.destroy() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#packs.hold(false)
    await this.world[Symbol.asyncDispose]()
    this.#packs[Symbol.dispose]()
  }
}

const line = (words: string) => `${(words.length + 4).toString(16).padStart(4, '0')}${words}`

/** The request of a clone. */
const wantOf = ({ repository }: StoredProject): string =>
  `${line('command=fetch')}0001${line('ofs-delta')}${line(`want ${repository.git('rev-parse', 'main')}\n`)}${line('done\n')}0000`

async function digestOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const digest = createHash('sha256')
  for await (const chunk of answer) digest.update(chunk)
  return digest.digest('hex')
}

/** Adds 20 MB that cannot be compressed: more than the buffers of a connection, and than the cached blocks of shared responses. */
function grow({ repository }: StoredProject): void {
  for (let index = 0; index < 5; index++) repository.commit({ [`large${index}`]: randomBytes(4_000_000) })
}

async function commitsOf(gitDir: string): Promise<number> {
  expect(await git(gitDir, 'fsck', '--full', '--strict')).toBe('')
  return Number(await git(gitDir, 'rev-list', '--count', '--all'))
}

const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work))

describe('equal clones', () => {
  test('twelve equal clones at once share one pack and are complete', async () => {
    await using storm = await Storm.start()
    expect(await times(12, () => storm.clone())).toEqual(Array(12).fill(4))
    expect(storm.packs).toHaveLength(1)
  })

  test.skipIf(!hasSsh)('clones over SSH and over HTTP share one pack', async () => {
    await using storm = await Storm.start()
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, storm.world.root)
    const overSsh = async (name: string) => {
      const url = sshUrl(storm.world, storm.project)
      expect(await gitSsh(storm.world, key, folder.path, 'clone', '--quiet', '--bare', url, name)).toMatchObject({
        code: 0,
      })
      return commitsOf(join(folder.path, name))
    }
    expect(await Promise.all([overSsh('a'), storm.clone(), overSsh('b'), storm.clone()])).toEqual([4, 4, 4, 4])
    expect(storm.packs).toHaveLength(1)
  })

  test('clones by protocol 0 have packs of their own', async () => {
    await using storm = await Storm.start()
    expect(await times(2, () => storm.clone('-c', 'protocol.version=0'))).toEqual([4, 4])
  })

  test('a clone that asks for something else gets it: a depth, a filter, one branch', async () => {
    await using storm = await Storm.start()
    storm.project.repository.commit({ other: 'other\n' }, { branch: 'other' })
    expect(await storm.clone()).toBe(5)
    expect(await times(2, () => storm.clone('--single-branch'))).toEqual([4, 4])
    expect(await times(2, () => storm.clone('--depth=1'))).toEqual([1, 1])
    expect(await times(2, () => storm.clone('--depth=2'))).toEqual([2, 2])
    expect(storm.packs).toHaveLength(4)
    await using folder = await temporaryFolder()
    for (const name of ['a', 'b'])
      await git(folder.path, 'clone', '--quiet', '--bare', '--filter=blob:none', storm.url, name)
    expect(storm.packs).toHaveLength(5)
    expect(await git(join(folder.path, 'b'), 'rev-list', '--objects', '--all', '--missing=print')).toContain('\n?')
  })

  test('a clone after a push or a new tag has both', async () => {
    await using storm = await Storm.start()
    const { repository } = storm.project
    expect(await storm.clone()).toBe(4)
    repository.commit({ e: 'e\n' })
    expect(await storm.clone()).toBe(5)
    await using folder = await temporaryFolder()
    const tags = async (name: string) => {
      await git(folder.path, 'clone', '--quiet', '--bare', '--single-branch', storm.url, name)
      return git(join(folder.path, name), 'tag')
    }
    expect(await tags('before')).toBe('')
    repository.git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'tag', '-a', '-m', 'x', 'v1', 'main')
    expect(await tags('after')).toBe('v1')
    expect(storm.packs).toHaveLength(4)
  })

  test('a pack is shared no longer than its time', async () => {
    await using storm = await Storm.start({ joinableMs: 1 })
    await storm.clone()
    await storm.clone()
    expect(storm.packs).toHaveLength(2)
  })
})

describe('clients that share a pack', () => {
  test('the others get their clones when the first client disconnects', async () => {
    await using storm = await Storm.start()
    storm.hold(true)
    const first = await storm.ask()
    await expect.poll(() => storm.packs).toHaveLength(1)
    await using second = await storm.ask()
    await first[Symbol.asyncDispose]()
    storm.hold(false)
    const pack = await text(second)
    expect(pack.endsWith('0000')).toBe(true)
    expect(storm.packs).toHaveLength(1)
  })

  test('the others get their clones while the first client reads nothing', async () => {
    await using storm = await Storm.start()
    await using _first = await storm.ask()
    expect((await text(await storm.ask())).endsWith('0000')).toBe(true)
    expect(storm.packs).toHaveLength(1)
  })

  test('clients that wait for long get the same bytes, whose memory is used again by others', async () => {
    await using storm = await Storm.start()
    grow(storm.project)
    const digests = [await digestOf(await storm.ask())]
    // They are sent more than the system buffers.
    const waiting = await times(3, () => storm.ask())
    for (let round = 0; round < 3; round++) digests.push(...(await times(3, async () => digestOf(await storm.ask()))))
    for (const answer of waiting) digests.push(await digestOf(answer))
    expect(new Set(digests).size).toBe(1)
    expect(storm.packs).toHaveLength(1)
  })

  test.skipIf(!hasSsh)(
    'clients over SSH that wait for long get no bytes of the clones of another repository meanwhile',
    async () => {
      await using storm = await Storm.start()
      await using folder = await temporaryFolder()
      const other = await storedProject(storm.world)
      for (const project of [storm.project, other]) grow(project)
      const key = await withKey(folder.path, storm.world.root)
      const pack = await buffer(await storm.ask())
      const command = `git-upload-pack '${storm.project.full_path}.git'`
      const ssh = () => {
        const words = ['-o', 'SetEnv=GIT_PROTOCOL=version=2', ...sshWords(storm.world, key, command)]
        const { stdin, stdout } = spawn('ssh', words, { stdio: ['pipe', 'pipe', 'inherit'] })
        stdin.write(wantOf(storm.project))
        return { stdin, stdout }
      }
      const waiting = Array.from({ length: 3 }, ssh)
      // The server sends as much as they take without reading.
      for (const { stdout } of waiting) await once(stdout, 'readable')
      await times(6, async () => digestOf(await storm.ask(other)))
      await times(6, async () => digestOf(await storm.ask(other)))
      for (const { stdin, stdout } of waiting) {
        stdin.end('0000')
        const bytes = await buffer(stdout)
        // Before it comes what git says first.
        expect(bytes.subarray(-pack.length).equals(pack)).toBe(true)
      }
      expect(storm.packs).toHaveLength(2)
    },
  )

  test('the process ends when its last client disconnects', async () => {
    await using storm = await Storm.start()
    storm.hold(true)
    const clients = await times(3, () => storm.ask())
    await expect.poll(() => storm.packs).toHaveLength(1)
    for (const client of clients) await client[Symbol.asyncDispose]()
    await expect.poll(() => existsSync(`/proc/${storm.packs[0]}`)).toBe(false)
    storm.hold(false)
    expect(await storm.clone()).toBe(4)
  })

  test('all clones succeed when the process that makes their pack is killed before it begins', async () => {
    await using storm = await Storm.start()
    storm.hold(true)
    const clones = times(5, () => storm.clone())
    await expect.poll(() => storm.packs).toHaveLength(1)
    process.kill(storm.packs[0]!, 'SIGKILL')
    await expect.poll(() => storm.packs).toHaveLength(2)
    storm.hold(false)
    expect(await clones).toEqual([4, 4, 4, 4, 4])
  })

  test('all clones succeed when the process that makes their pack is killed in the middle', async () => {
    await using storm = await Storm.start()
    storm.cutNext()
    expect(await times(5, () => storm.clone())).toEqual([4, 4, 4, 4, 4])
    expect(storm.packs).toHaveLength(2)
  })

  test('a user whose access was revoked gets no part of a shared pack', async () => {
    await using storm = await Storm.start()
    const { world } = storm
    const [ann, bob] = [await world.user(), await world.user()]
    const path = `/projects/${storm.project.id}`
    await world.root.put(path, { visibility: 'private' })
    for (const { id } of [ann, bob]) await world.root.post(`${path}/members`, { user_id: id, access_level: 30 })
    await using folder = await temporaryFolder()
    const clone = async (who: Client, name: string) => {
      const url = storm.url.replace('://', `://${who.username}:${who.token}@`)
      return git(folder.path, 'clone', '--quiet', '--bare', url, name).then(() => commitsOf(join(folder.path, name)))
    }
    expect(await Promise.all([clone(ann, 'a'), clone(bob, 'b')])).toEqual([4, 4])
    await world.root.delete(`${path}/members/${bob.id}`)
    await expect(clone(bob, 'c')).rejects.toThrow(/not found|403|404/i)
    expect(await clone(ann, 'd')).toBe(4)
    expect(storm.packs).toHaveLength(1)
  })
})

describe('without room for shared packs', () => {
  test('each clone has its own pack while the disk has too little space', async () => {
    await using storm = await Storm.start({ minFreeBytes: Number.MAX_SAFE_INTEGER })
    expect(await times(3, () => storm.clone())).toEqual([4, 4, 4])
    expect(storm.packs).toHaveLength(3)
  })

  test('clones of a repository larger than the limit have their own packs', async () => {
    await using storm = await Storm.start({ maxBytes: 1_000_000 })
    storm.project.repository.git('repack', '-a', '-d', '-q')
    expect(await times(2, () => storm.clone())).toEqual([4, 4])
    expect(storm.packs).toHaveLength(2)
  })

  test('clones that share a pack complete when it reaches the limit', async () => {
    await using storm = await Storm.start({ maxBytes: 1_000_000 })
    storm.hold(true)
    const clones = times(4, () => storm.clone('--depth=5'))
    await expect.poll(() => storm.packs.length).toBeGreaterThan(0)
    storm.hold(false)
    expect(await clones).toEqual([4, 4, 4, 4])
  })

  test('a client has its own pack after a shared one reached the limit', async () => {
    await using storm = await Storm.start({ maxBytes: 1_000_000 })
    const sizes = [(await text(await storm.ask())).length, (await text(await storm.ask())).length]
    expect(sizes[0]).toBeGreaterThan(1_000_000)
    expect(storm.packs).toHaveLength(2)
    expect(await times(3, () => storm.clone('--depth=5'))).toEqual([4, 4, 4])
  })

  test('a client that takes nothing is cut off while others wait for it to have its part of a pack that reached the limit', async () => {
    await using storm = await Storm.start({ maxBytes: 1_000_000, stalledMs: 500 })
    grow(storm.project)
    storm.hold(true)
    const asked = storm.ask()
    await expect.poll(() => storm.packs.length).toBe(1)
    const joining = storm.ask()
    // Nothing shows that a client has joined a pack that is held. One that came too late would have its own.
    await delay(300)
    storm.hold(false)
    await using stalled = await asked
    await using reading = await joining
    expect((await buffer(reading)).length).toBeGreaterThan(20_000_000)
    expect(storm.packs).toHaveLength(1)
    await expect(buffer(stalled)).rejects.toThrow('aborted')
  })

  test('clones that share a pack complete when the disk becomes full', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'stithy-small-'))
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'stithy', folder]).status === 0
    try {
      if (!mounted) skip('nothing can be mounted here')
      await using storm = await Storm.start({ folder, minFreeBytes: -Number.MAX_SAFE_INTEGER })
      storm.hold(true)
      const clones = times(4, () => storm.clone())
      await expect.poll(() => storm.packs.length).toBeGreaterThan(0)
      storm.hold(false)
      expect(await clones).toEqual([4, 4, 4, 4])
    } finally {
      if (mounted) spawnSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
