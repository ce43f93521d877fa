import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { adopt, bootstrap, requireOwn } from '../../src/commands.ts'
import { parseConfig } from '../../src/config.ts'
import { Launched } from '../../src/processes/testing/launch.ts'
import { databaseAt } from '../global-setup.ts'
import { Client, freePort, git, temporaryFolder, unique } from '../world.ts'

const token = 'root-token-for-tests'

/** Runs one statement as the administrator of the database server. */
async function administer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgres').adminUrl })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

/** A new database, a copy of `original`, which must have no connections. */
async function copyDatabase(original: string): Promise<string> {
  const name = `installation_${process.pid}_${randomBytes(4).toString('hex')}`
  await administer(`create database ${name} template ${original}`)
  onTestFinished(() => administer(`drop database if exists ${name} with (force)`))
  return name
}

const emptyDatabase = () => copyDatabase(inject('postgres').template)

async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-installation-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function configOf(folder: string, database: string) {
  const databaseUrl = databaseAt(inject('postgres').adminUrl, database)
  const config = parseConfig({
    STITHY_DATA_DIR: folder,
    STITHY_HTTP_PORT: String(await freePort()),
    STITHY_SSH_PORT: '0',
    STITHY_DATABASE_URL: databaseUrl,
    STITHY_ROOT_TOKEN: token,
    STITHY_ROOT_PASSWORD: 'root-password-for-tests',
    STITHY_LOG_LEVEL: 'silent',
  })
  return { config, databaseUrl }
}

/** Starts the service on a data folder and a database, does `work`, and stops it. */
async function serving(
  folder: string,
  database: string,
  work: (root: Client, origin: string) => Promise<void>,
): Promise<void> {
  const { config, databaseUrl } = await configOf(folder, database)
  await bootstrap(config, databaseUrl)
  const app = await createApp(config, { databaseUrl, runnerSocket: inject('runnerSocket') })
  try {
    await app.listen()
    const origin = `http://127.0.0.1:${config.http.port}`
    await work(new Client(origin, { id: 1, username: 'root', token }), origin)
  } finally {
    await app[Symbol.asyncDispose]()
  }
}

const idle = async (): Promise<void> => {}

async function ask(database: string, text: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: databaseAt(inject('postgres').adminUrl, database) })
  await client.connect()
  return (await client.query(text).finally(() => client.end())).rows
}

/** A project of root with one file in it. */
async function projectWith(root: Client, visibility: string, content?: string): Promise<{ id: number; path: string }> {
  const made = await root.post('/projects', { path: unique('project'), visibility })
  expect(made.status, made.text).toBe(201)
  const { id, path_with_namespace: path } = made.json
  if (content !== undefined)
    expect(
      (
        await root.post(`/projects/${id}/repository/files/secret`, {
          branch: 'master',
          content,
          commit_message: 'Add',
        })
      ).status,
    ).toBe(201)
  return { id, path }
}

const fileOf = (who: Client, id: number) => who.get(`/projects/${id}/repository/files/secret/raw?ref=master`)

const lostIn = (folder: string): string[] =>
  existsSync(join(folder, 'lost+found')) ? readdirSync(join(folder, 'lost+found')) : []

/** An installation, a copy of its database from before its newest project, and that project. */
async function withOlderDatabase() {
  const folder = await dataFolder()
  const database = await emptyDatabase()
  let kept: { id: number; path: string } | undefined
  await serving(folder, database, async (root) => {
    kept = await projectWith(root, 'private', 'kept content')
  })
  const older = await copyDatabase(database)
  let secret: { id: number; path: string } | undefined
  await serving(folder, database, async (root) => {
    secret = await projectWith(root, 'private', 'private content')
  })
  return { folder, older, kept: kept!, secret: secret! }
}

describe('a database restored from a backup that is older than the repositories', () => {
  test('a new public project does not get the private repository that had its id', async () => {
    const { folder, older, kept, secret } = await withOlderDatabase()
    await serving(folder, older, async (root, origin) => {
      const anonymous = new Client(origin)
      const { id, path } = await projectWith(root, 'public')
      // The sequence went back with the database, so the id is used again.
      expect(id).toBe(secret.id)
      expect((await fileOf(anonymous, id)).status).toBe(404)
      expect((await anonymous.get(`/projects/${id}/repository/commits`)).text).not.toContain('Add')
      await using work = await temporaryFolder()
      await git(work.path, 'clone', '-q', `${origin}/${path}.git`, 'clone')
      expect(readdirSync(join(work.path, 'clone'))).toEqual(['.git'])
      // The first write creates a new repository.
      expect(
        (
          await root.post(`/projects/${id}/repository/files/other`, {
            branch: 'master',
            content: 'x',
            commit_message: 'Other',
          })
        ).status,
      ).toBe(201)
      expect((await fileOf(anonymous, id)).status).toBe(404)
      expect((await fileOf(root, kept.id)).text).toBe('kept content')
    })
    const [lost, ...others] = lostIn(folder)
    expect(others).toEqual([])
    expect(lost).toContain(`${secret.id}.git`)
    expect(await git(join(folder, 'lost+found', lost!), 'show', 'master:secret')).toBe('private content')
  })

  test('a project created before this release does not get a private repository that had its id', async () => {
    const { folder, older, secret } = await withOlderDatabase()
    // The row as a version that did not look for folders would have created it.
    await ask(
      older,
      `insert into projects (namespace_id, creator_id, name, path, full_path, visibility, default_branch, repository_storage, runners_token)
      select namespace_id, creator_id, 'new', 'new', 'root/new', 20, 'master', repository_storage, 'another token' from projects limit 1`,
    )
    await ask(older, `insert into routes (path_key, project_id) values ('root/new', ${secret.id})`)
    await serving(folder, older, async (_root, origin) => {
      const anonymous = new Client(origin)
      expect((await anonymous.get(`/projects/${secret.id}`)).status).toBe(200)
      expect((await fileOf(anonymous, secret.id)).status).toBe(404)
      expect((await anonymous.get(`/projects/${secret.id}/repository/archive.tar`)).text).not.toContain('private')
      await expect.poll(() => lostIn(folder).length).toBe(1)
    })
  })
})

describe('a database and a data folder that do not belong together', () => {
  test('the start is refused when the database is new and the folder has repositories', async () => {
    const { folder, secret } = await withOlderDatabase()
    const fresh = await emptyDatabase()
    await expect(serving(folder, fresh, idle)).rejects.toThrow(
      /do not belong together.*STITHY_DATABASE_URL.*stithy adopt/s,
    )
    expect(await ask(fresh, 'select from users where admin')).toEqual([])
    expect(existsSync(join(folder, 'repositories', 'default'))).toBe(true)
    expect(secret.id).toBeGreaterThan(0)
  })

  test('the start is refused when database and folder belong to different installations', async () => {
    const one = await withOlderDatabase()
    const two = await withOlderDatabase()
    await expect(serving(one.folder, two.older, idle)).rejects.toThrow('do not belong together')
    // Also before its schema is changed.
    const { config, databaseUrl } = await configOf(one.folder, two.older)
    await expect(requireOwn(config, databaseUrl)).rejects.toThrow('do not belong together')
  })

  test('the start is refused when the folder is new and the database has projects', async () => {
    const { older } = await withOlderDatabase()
    await expect(serving(await dataFolder(), older, idle)).rejects.toThrow('do not belong together')
  })

  test('after the operator adopts the database, the start succeeds with its repositories', async () => {
    const { folder, older, kept, secret } = await withOlderDatabase()
    // A backup from before this release has no installation id; the migration then gives its projects other keys.
    await ask(older, 'delete from installation')
    await ask(older, 'update projects set repository_key = gen_random_uuid()')
    await expect(serving(folder, older, idle)).rejects.toThrow('stithy adopt')
    const { config, databaseUrl } = await configOf(folder, older)
    await adopt(config, databaseUrl)
    await serving(folder, older, async (root) => {
      expect((await fileOf(root, kept.id)).text).toBe('kept content')
      expect((await projectWith(root, 'public')).id).toBe(secret.id)
      expect((await fileOf(root, secret.id)).status).toBe(404)
    })
    expect(lostIn(folder)).toHaveLength(1)
  })
})

const bin = fileURLToPath(new URL('../../bin/stithy.js', import.meta.url))

test('a start without STITHY_DATABASE_URL is refused with the reason; the next one with it serves', async () => {
  const folder = await dataFolder()
  const database = await emptyDatabase()
  let secret: { id: number; path: string } | undefined
  await serving(folder, database, async (root) => {
    secret = await projectWith(root, 'private', 'private content')
  })
  const env = {
    STITHY_DATA_DIR: folder,
    STITHY_HTTP_PORT: String(await freePort()),
    STITHY_ROOT_TOKEN: token,
    STITHY_LOG_LEVEL: 'fatal',
    STITHY_PROCESSES: '1',
  }
  const forgetful = new Launched(['serve'], env, { file: bin })
  expect(await forgetful.exit).toBe(1)
  expect(forgetful.err).toContain('(no installation yet, without projects)')
  expect(forgetful.err).toContain('with repositories) do not belong together: set STITHY_DATABASE_URL')
  expect(forgetful.out).not.toContain('Stithy is ready')
  await serving(folder, database, async (root) => {
    expect((await fileOf(root, secret!.id)).text).toBe('private content')
  })
  // The operator may still want the new database: then its projects belong to the folder from now on.
  const adopting = new Launched(['adopt'], env, { file: bin })
  expect(await adopting.exit).toBe(0)
  expect(adopting.out).toContain('now belong together')
  await expect(serving(folder, database, idle)).rejects.toThrow('do not belong together')
  const again = new Launched(['serve'], env, { file: bin })
  await again.ready()
  expect(lostIn(folder)).toEqual([])
  const origin = `http://127.0.0.1:${env.STITHY_HTTP_PORT}`
  const anonymous = new Client(origin)
  const { id } = await projectWith(new Client(origin, { id: 1, username: 'root', token }), 'public')
  expect(id).toBe(secret!.id)
  expect((await fileOf(anonymous, id)).status).toBe(404)
  expect(lostIn(folder)).toHaveLength(1)
})

describe('the first start after the upgrade', () => {
  /** An installation as before the upgrade: without ids and keys. */
  async function beforeUpgrade() {
    const made = await withOlderDatabase()
    await ask(made.older, 'delete from installation')
    await ask(made.older, 'update projects set repository_key = gen_random_uuid()')
    for (const marker of ['installation', 'blobs/stithy-installation']) await rm(join(made.folder, marker))
    for (const shard of readdirSync(join(made.folder, 'repositories', 'default')))
      for (const name of readdirSync(join(made.folder, 'repositories', 'default', shard)))
        await rm(join(made.folder, 'repositories', 'default', shard, name, 'stithy-project'))
    return made
  }

  test('the first start after the upgrade gives repositories of projects their keys, once', async () => {
    const { folder, older, kept, secret } = await beforeUpgrade()
    await serving(folder, older, async (root) => {
      expect((await fileOf(root, kept.id)).text).toBe('kept content')
    })
    await serving(folder, older, async (root) => {
      expect((await fileOf(root, kept.id)).text).toBe('kept content')
      expect((await projectWith(root, 'public')).id).toBe(secret.id)
      expect((await fileOf(root, secret.id)).status).toBe(404)
    })
    // No later start gives a key to a repository without one.
    const gitDir = join(folder, 'repositories', 'default', kept.id.toString(16).padStart(3, '0'), `${kept.id}.git`)
    await rm(join(gitDir, 'stithy-project'))
    await serving(folder, older, async (root) => {
      expect((await fileOf(root, kept.id)).status).toBe(404)
      await expect.poll(() => lostIn(folder).length).toBe(2)
    })
  })

  test('the first start after the upgrade is refused with a new database', async () => {
    const { folder } = await beforeUpgrade()
    await expect(serving(folder, await emptyDatabase(), idle)).rejects.toThrow('do not belong together')
  })

  test('an interrupted first start after the upgrade is continued', async () => {
    const { folder, older, kept } = await beforeUpgrade()
    await writeFile(join(folder, 'installation'), '7c2ad44a-7fe4-4d8e-bb4b-3e1a3d8f6a52 pending\n')
    await serving(folder, older, async (root) => {
      expect((await fileOf(root, kept.id)).text).toBe('kept content')
    })
  })
})
