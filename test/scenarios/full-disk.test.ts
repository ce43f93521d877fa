import { execFileSync, spawnSync } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FormData } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fsck } from '../../src/git/transfer/maintenance.ts'
import { bringRepository } from '../../src/modules/lifecycle/forks/testing.ts'
import { importFromUrl } from '../../src/modules/lifecycle/imports/jobs.ts'
import { exportArchive } from '../../src/modules/portability/exports/jobs.ts'
import { importGroupArchive } from '../../src/modules/portability/imports/group-jobs.ts'
import { freshAdministrator, groupExportOf, upload as uploadArchive } from '../../src/modules/portability/testing.ts'
import { housekeep } from '../../src/modules/projects/repositories/housekeeping.ts'
import { openRepository } from '../../src/modules/projects/repositories/open.ts'
import { contextFor } from '../contexts.ts'
import { projectRow } from '../tables/projects.ts'
import { eventually } from '../waiting.ts'
import { type Answer, git, type TestProject, unique, World } from '../world.ts'

/** A small disk that only this test fills. */
class SmallDisk implements Disposable {
  readonly path: string
  readonly #filler: string
  #blockers = 0

  private constructor(path: string) {
    this.path = path
    this.#filler = join(path, 'filler')
  }

  /** `undefined` when mounting is not permitted. */
  static mount(): SmallDisk | undefined {
    const path = execFileSync('mktemp', ['-d', '-t', 'stithy-full-XXXXXX'], { encoding: 'utf8' }).trim()
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128m,nr_inodes=3000', 'stithy', path])
    if (status === 0) return new SmallDisk(path)
    rmSync(path, { recursive: true })
    return undefined
  }

  /** Leaves this number of pages of 4 KiB for content. */
  leavePages(pages: number): void {
    const file = openSync(this.#filler, 'w')
    let size = 0
    try {
      for (const bytes of [1024 * 1024, 4096])
        for (const chunk = Buffer.alloc(bytes, 1); ; ) {
          const written = writeSync(file, chunk, 0, bytes, size)
          size += written
          if (written < bytes) break
        }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
    try {
      for (const chunk = Buffer.alloc(4096, 1); ; ) size += writeSync(file, chunk, 0, 4096, size)
    } catch {}
    ftruncateSync(file, Math.max(0, size - pages * 4096))
    closeSync(file)
  }

  /** Leaves room for this number of new files and folders, with unlimited content. */
  leaveFiles(files: number): void {
    mkdirSync(join(this.path, 'blockers'))
    try {
      for (;;) writeFileSync(join(this.path, 'blockers', String(this.#blockers++)), '')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
    this.#blockers--
    for (let n = 0; n < files; n++) rmSync(join(this.path, 'blockers', String(--this.#blockers)))
  }

  free(): void {
    rmSync(this.#filler, { force: true })
    rmSync(join(this.path, 'blockers'), { recursive: true, force: true })
    this.#blockers = 0
  }

  /** Makes a folder and all below it read-only until the result is disposed. */
  readOnly(folder: string): Disposable {
    execFileSync('mount', ['--bind', folder, folder])
    execFileSync('mount', ['-o', 'remount,ro,bind', folder])
    return { [Symbol.dispose]: () => void execFileSync('umount', ['-l', folder]) }
  }

  [Symbol.dispose](): void {
    spawnSync('umount', ['-l', this.path])
    rmSync(this.path, { recursive: true, force: true })
  }
}

const disk = SmallDisk.mount()

/** `ok`, the status of a refusal, or the error of git or a job. */
type Outcome = 'ok' | number | string

type ExportInput = Parameters<typeof exportArchive.run>[0]

const statusOf = ({ status }: Answer): Outcome => (status < 300 ? 'ok' : status)

/** The smallest PNG: one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** How the service and git report a full disk. */
const diskFull =
  /No space left|507|Insufficient Storage|unable to (?:create|write)|unpacker error|unable to migrate objects|could not|couldn't/i

const isTemporary = (name: string) => /tmp|\.lock$|incoming|\.new$|\.removed$|\.import$|\.partial$/.test(name)

describe.skipIf(!disk)(`a full disk${disk ? '' : ' (skipped: nothing can be mounted here)'}`, () => {
  let world: World
  let project: TestProject
  let work: string
  let groupArchive: Buffer

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'stithy-work-'))
    mkdirSync(join(disk!.path, 'data'), { mode: 0o700 })
    world = await World.start({ STITHY_DATA_DIR: join(disk!.path, 'data') })
    project = await world.project()
    await git(work, 'init', '-q', '-b', 'main')
    for (let n = 0; n < 20; n++) await writeFile(join(work, `file-${n}`), randomBytes(3000))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'First')
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const group = await world.group()
    await world.root.post(`/groups/${group.id}/labels`, { name: 'imported', color: '#112233' })
    groupArchive = await groupExportOf(world, group.id)
  })
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]().catch(() => {})
    disk?.[Symbol.dispose]()
    await rm(work, { recursive: true, force: true })
  })

  const located = async () => (await projectRow(world, project.id, 'id', 'repository_storage', 'repository_key'))[0]
  const at = (path: string) => `/projects/${project.id}${path}`
  const push = (...refs: string[]): Promise<Outcome> =>
    git(work, 'push', '-q', world.remote(project, world.root), ...refs).then(
      () => 'ok',
      (error: { stderr: string }) => error.stderr,
    )
  const commit = async (files: number) => {
    for (let n = 0; n < files; n++) await writeFile(join(work, unique('file')), randomBytes(3000))
    await git(work, 'add', '.')
    await git(work, 'commit', '-q', '--allow-empty', '-m', unique('commit'))
  }
  const branch = (name: string) => world.root.post(at(`/repository/branches?branch=${name}&ref=main`))
  const add = (more: object = {}) =>
    world.root.post(at('/repository/commits'), {
      branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: unique('path/of'), content: randomBytes(4000).toString('hex') }],
      ...more,
    })
  const upload = (method: string, path: string, field: string, content: Buffer, name: string) => {
    const body = new FormData()
    body.set(field, new Blob([content as never]), name)
    return world.root.send(method, path, { body })
  }

  /** Requests an export; returns the input of its job. */
  const requestExport = async (path: string) => {
    const administrator = await freshAdministrator(world)
    expect((await administrator.post(`${path}/export`)).status).toBe(202)
    const [waiting] = await world.takeJobs('export_archive:%')
    return waiting!.payload as ExportInput
  }
  const runExport = async (payload: ExportInput): Promise<Outcome> =>
    exportArchive.run(payload, await contextFor(world, null)).then(
      () => 'ok',
      (error: Error) => error.message,
    )

  /** Each kind of write. `prepare` runs before the disk is full. */
  const kinds: Record<string, { prepare?: () => Promise<unknown>; write: (prepared: any) => Promise<Outcome> }> = {
    'a push of loose objects': { prepare: () => commit(1), write: () => push(`+HEAD:refs/heads/${unique('pushed')}`) },
    'a push of a pack': { prepare: () => commit(120), write: () => push(`+HEAD:refs/heads/${unique('pushed')}`) },
    'a push of many refs': {
      write: () => push(...Array.from({ length: 20 }, () => `main:refs/heads/${unique('many/of')}`)),
    },
    'a push that deletes': {
      prepare: async () => {
        const name = unique('gone')
        await branch(name)
        return name
      },
      write: (name) => push(`:refs/heads/${name}`),
    },
    'a push that creates a project': {
      write: () =>
        git(
          work,
          'push',
          '-q',
          world.remote({ ...project, url: `${world.origin}/root/${unique('new')}.git` }, world.root),
          'main',
        ).then(
          () => 'ok',
          (error: { stderr: string }) => error.stderr,
        ),
    },
    'a commit': { write: async () => statusOf(await add()) },
    'a commit to a new branch': {
      write: async () => statusOf(await add({ branch: unique('topic/of'), start_branch: 'main' })),
    },
    'a file': {
      write: async () =>
        statusOf(
          await world.root.post(at(`/repository/files/${unique('file')}`), {
            branch: 'main',
            commit_message: 'x',
            content: 'x',
          }),
        ),
    },
    'a branch': { write: async () => statusOf(await branch(unique('branch'))) },
    'a deleted branch': {
      prepare: async () => {
        const name = unique('gone')
        await branch(name)
        return name
      },
      write: async (name) => statusOf(await world.root.delete(at(`/repository/branches/${name}`))),
    },
    'a tag with a message': {
      write: async () =>
        statusOf(await world.root.post(at('/repository/tags'), { tag_name: unique('v'), ref: 'main', message: 'x' })),
    },
    'a merge': {
      prepare: async () => {
        const source_branch = unique('topic')
        await add({ branch: source_branch, start_branch: 'main' })
        await add()
        return (await world.root.post(at('/merge_requests'), { source_branch, target_branch: 'main', title: 'x' })).json
          .iid
      },
      write: async (iid) => statusOf(await world.root.put(at(`/merge_requests/${iid}/merge`))),
    },
    'an avatar': { write: async () => statusOf(await upload('PUT', '/user/avatar', 'avatar', png, 'face.png')) },
    'an upload': {
      write: async () => statusOf(await upload('POST', at('/uploads'), 'file', randomBytes(9000), 'notes.txt')),
    },
    'an LFS file': {
      prepare: async () => {
        const content = randomBytes(9000)
        const answer = await world.root.send('POST', `//${project.full_path}.git/info/lfs/objects/batch`, {
          headers: {
            authorization: `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}`,
            'content-type': 'application/vnd.git-lfs+json',
          },
          body: JSON.stringify({
            operation: 'upload',
            objects: [{ oid: hash('sha256', content, 'hex'), size: content.length }],
          }),
        })
        return { content, ...JSON.parse(answer.text).objects[0].actions.upload }
      },
      write: async ({ href, header, content }) =>
        statusOf(await world.root.send('PUT', `/${new URL(href).pathname}`, { headers: header, body: content })),
    },
    'a project with a README': {
      write: async () =>
        statusOf(await world.root.post('/projects', { path: unique('new'), initialize_with_readme: true })),
    },
    'a fork': {
      prepare: async () =>
        (await world.root.post(at('/fork'), { path: unique('fork'), name: unique('fork'), namespace_path: 'root' }))
          .json.id,
      write: (id) =>
        bringRepository(world, id).then(
          () => 'ok',
          (error: Error) => error.message,
        ),
    },
    'an import': {
      prepare: async () => {
        const import_url = world.remote(project, world.root)
        return (await world.root.post('/projects', { path: unique('imported'), import_url })).json.id
      },
      write: async (projectId) =>
        importFromUrl.run({ projectId, storage: 'default' }, await contextFor(world, null)).then(
          () => 'ok',
          (error: Error) => error.message,
        ),
    },
    'an import of a group': {
      prepare: async () => {
        const path = unique('imported')
        const { status } = await uploadArchive(world.root, groupArchive, { path, name: path }, '/groups/import')
        expect(status).toBe(202)
        return (await world.root.get(`/groups/${path}`)).json.id
      },
      write: async (groupId) =>
        importGroupArchive.run({ groupId }, await contextFor(world, null)).then(
          () => 'ok',
          (error: Error) => error.message,
        ),
    },
    'an export': {
      prepare: () => requestExport(`/projects/${project.id}`),
      write: (payload) => runExport(payload),
    },
    'an export of a group': {
      prepare: async () => requestExport(`/groups/${(await world.group()).id}`),
      write: (payload) => runExport(payload),
    },
    housekeeping: {
      prepare: () => add(),
      write: async () => {
        const ctx = await contextFor(world, null)
        return housekeep(ctx, project.id, openRepository(ctx, await located()), 'gc').then(
          () => 'ok',
          (error: Error) => error.message,
        )
      },
    },
    'a mail to a file': {
      write: async () =>
        (await contextFor(world, null)).mailer
          .send({ to: 'ann@example.com', subject: 'x', body: 'y'.repeat(5000) }, ++mails)
          .then(
            () => 'ok',
            (error: Error) => error.message,
          ),
    },
  }
  let mails = 0

  const temporaryFiles = () =>
    (readdirSync(join(disk!.path, 'data'), { recursive: true }) as string[])
      .filter((name) => isTemporary(name))
      .toSorted()

  /** Whether each of eight attempts on a full disk was refused. Other work may leave room at any time: a process that held a removed file. */
  const refusedOften = async (write: () => Promise<Outcome>): Promise<boolean> => {
    for (let n = 0; n < 8; n++) {
      disk!.leavePages(0)
      const outcome = await write()
      if (outcome === 'ok') return false
      expect(outcome).toMatch(diskFull)
    }
    return true
  }

  /** Eight attempts on a full disk, then one on a disk with room. Resolves to what was prepared. */
  const interruptOften = async (kind: string): Promise<unknown> => {
    const { prepare, write } = kinds[kind]!
    for (let n = 0; n < 3; n++) {
      const before = temporaryFiles()
      const prepared = await prepare!()
      // An uploaded file is removed after the response, which would leave room for the import.
      await eventually(() => expect(temporaryFiles().filter((file) => !before.includes(file))).toEqual([]))
      const refused = await refusedOften(() => write(prepared))
      disk!.free()
      if (!refused) continue
      expect(await write(prepared)).toBe('ok')
      return prepared
    }
    throw new Error(`${kind} was never refused eight times`)
  }

  const isRefusal = (outcome: Outcome) =>
    typeof outcome === 'number' ? outcome === 507 : outcome === 'ok' || diskFull.test(outcome)

  const tries = [
    ...[0, 2, 8].map((pages) => ({ name: `${pages} pages`, fill: () => disk!.leavePages(pages) })),
    ...[0, 1, 3].map((files) => ({ name: `${files} files`, fill: () => disk!.leaveFiles(files) })),
  ]

  test.for(Object.keys(kinds))('a full disk refuses %s, which succeeds when there is room again', async (kind) => {
    const { prepare, write } = kinds[kind]!
    const wrong: Record<string, unknown> = {}
    for (const { name, fill } of tries) {
      const prepared = await prepare?.()
      const before = temporaryFiles()
      fill()
      const outcome = await write(prepared)
      if (!isRefusal(outcome)) wrong[name] = outcome
      const leftBehind = () => temporaryFiles().filter((file) => !before.includes(file))
      // An uploaded file is removed after the response.
      await eventually(() => expect(leftBehind()).toEqual([])).catch(() => {
        wrong[`${name}: left behind`] = leftBehind()
      })
      const read = await world.root.get(at('/repository/files/file-1/raw?ref=main'))
      if (read.status !== 200) wrong[`${name}: read`] = read.status
      disk!.free()
      if (outcome !== 'ok') {
        const again = await write(prepared)
        if (again !== 'ok') wrong[`${name}: again`] = again
      }
    }
    const repo = openRepository(await contextFor(world, null), await located())
    expect([wrong, await fsck(repo)]).toEqual([{}, []])
  })
  /** Each needs a folder of two hexadecimal digits or a repository that is not there yet. */
  const firsts: Record<string, () => Promise<Outcome>> = {
    'a project with a README': kinds['a project with a README']!.write as () => Promise<Outcome>,
    'a push that creates a project': kinds['a push that creates a project']!.write as () => Promise<Outcome>,
    'a snippet': async () =>
      statusOf(
        await world.root.post('/snippets', { title: 'x', visibility: 'private', file_name: 'x', content: unique('x') }),
      ),
    'a page of a new wiki': async () => {
      const { id } = await world.project()
      return statusOf(await world.root.post(`/projects/${id}/wikis`, { title: 'home', content: 'x' }))
    },
  }

  test.for(Object.keys(firsts))('a read-only disk refuses %s, which succeeds when it is writable', async (kind) => {
    const write = firsts[kind]!
    {
      using _ = disk!.readOnly(join(disk!.path, 'data', 'repositories'))
      const outcome = await write()
      expect(outcome).toEqual(typeof outcome === 'number' ? 507 : expect.stringMatching(diskFull))
    }
    expect(await write()).toBe('ok')
  })
  test('readiness does not fail on a full disk, which can be read, and fails on a read-only data folder', async () => {
    const checks = async () => {
      const { disk_check, blobs_check, git_runner_check } = (await world.root.get('//-/readiness')).json
      return [disk_check, blobs_check, git_runner_check].map(([{ status }]) => status)
    }
    disk!.leavePages(0)
    expect(await checks()).toEqual(['ok', 'ok', 'ok'])
    disk!.free()
    using _ = disk!.readOnly(join(disk!.path, 'data'))
    await expect.poll(checks).toEqual(['failed', 'ok', 'ok'])
  })

  test('a fork or import that a full disk interrupts more often than others may be is made when there is room', async () => {
    for (const kind of ['a fork', 'an import']) {
      const id = await interruptOften(kind)
      expect((await world.root.get(`/projects/${id}`)).json).toMatchObject({
        import_status: 'finished',
        default_branch: 'main',
      })
    }
  })

  test('an import of a group that a full disk interrupts more often than others may be is made when there is room', async () => {
    const id = await interruptOften('an import of a group')
    expect((await world.root.get(`/groups/${id}/labels`)).json).toMatchObject([{ name: 'imported' }])
  })

  test('an export that a full disk interrupts more often than others may be is made when there is room', async () => {
    for (const kind of ['an export', 'an export of a group']) await interruptOften(kind)
    expect((await world.root.get(at('/export'))).json.export_status).toBe('finished')
  })
})
