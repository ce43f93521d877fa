import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Launched, temporaryFolder, titleOf } from '../../src/processes/testing/launch.ts'
import { bin, type Env, freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'
import { Client, git, unique } from '../world.ts'

/** After the death of a worker, another one has to answer. */
const twoWorkers = async (): Promise<Env> => ({ ...(await freshEnv()), STITHY_PROCESSES: '2' })

async function workTree(): Promise<string> {
  const work = await temporaryFolder()
  await git(work, 'init', '-q', '-b', 'main')
  await writeFile(join(work, 'file'), 'content\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First')
  return work
}

const postmasterOf = (launched: Launched): number =>
  launched.family().find((pid) => /bin\/postgres$/.test(titleOf(pid).split('\0', 1)[0]!))!

describe('kill -9', () => {
  test('acknowledged pushes and writes survive kill -9 of any process', async () => {
    let service = await serve(await twoWorkers())
    const work = await workTree()
    const remote = () => service.origin.replace('http://', 'http://root:root-token-for-tests@')
    expect((await service.root.post('/projects', { path: 'crash' })).status).toBe(201)

    const pushed: string[] = []
    const made: number[] = []
    let going = true
    const pusher = async (name: string) => {
      for (let n = 0; going; n++) {
        const branch = `${name}-${n}`
        const done = await git(work, 'push', '-q', `${remote()}/root/crash.git`, `HEAD:refs/heads/${branch}`).catch(
          () => undefined,
        )
        if (done === undefined) await delay(50)
        else pushed.push(branch)
      }
    }
    const writer = async () => {
      for (let n = 0; going; n++) {
        const answer = await service.root.post('/projects', { path: `written-${n}` }).catch(() => undefined)
        if (answer?.status === 201) made.push(answer.json.id)
        else await delay(50)
      }
    }
    const busy = [pusher('a'), pusher('b'), writer()]

    for (const title of ['stithy worker', 'stithy git runner', 'stithy jobs']) {
      await delay(300)
      const before = pushed.length
      await service.launched.killNamed(title)
      // The service continues: it acknowledges pushes again.
      await eventually(() => expect(pushed.length).toBeGreaterThan(before + 1))
    }
    process.kill(service.launched.pid, 'SIGKILL')
    await service.launched.exit
    await delay(500)
    service = await serve(service.env)
    const before = pushed.length
    await eventually(() => expect(pushed.length).toBeGreaterThan(before + 1))
    going = false
    await Promise.all(busy)

    expect(pushed.length).toBeGreaterThanOrEqual(8)
    const refs = await git(work, 'ls-remote', '--heads', `${remote()}/root/crash.git`)
    for (const branch of pushed) expect(refs).toContain(`refs/heads/${branch}\n`.trimEnd())
    for (const id of made) expect((await service.root.get(`/projects/${id}`)).status).toBe(200)

    service.launched.process.kill('SIGTERM')
    expect(await service.launched.exit).toBe(0)
    // Repositories and database agree, and all objects are intact.
    const check = new Launched(['check'], service.env, { file: bin })
    expect([await check.exit, check.err]).toEqual([
      0,
      expect.stringMatching(/^checked repositories up to project \d+\n$/),
    ])
  })

  test('merged branches and merged merge requests agree after kill -9 of any process', async () => {
    let service = await serve(await twoWorkers())
    const work = await workTree()
    const count = 16
    expect((await service.root.post('/projects', { path: 'merged' })).status).toBe(201)
    const branches = Array.from({ length: count }, (_, n) => `topic-${n}`)
    for (const branch of branches) {
      await git(work, 'checkout', '-q', '-b', branch, 'main')
      await git(work, 'commit', '-q', '--allow-empty', '-m', branch)
    }
    const remote = service.origin.replace('http://', 'http://root:root-token-for-tests@')
    await git(work, 'push', '-q', `${remote}/root/merged.git`, 'main')
    await git(work, 'push', '-q', `${remote}/root/merged.git`, ...branches)
    const at = '/projects/root%2Fmerged/merge_requests'
    for (const branch of branches) {
      const asked = { source_branch: branch, target_branch: 'main', title: branch, remove_source_branch: false }
      expect((await service.root.post(at, asked)).status).toBe(201)
    }
    const acknowledged: string[] = []
    const merging = branches.map(async (branch, n) => {
      const answer = await service.root.put(`${at}/${n + 1}/merge`).catch(() => undefined)
      if (answer?.status === 200) acknowledged.push(branch)
    })
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(2), 5)
    await service.launched.killNamed('stithy worker')
    await delay(300)
    process.kill(service.launched.pid, 'SIGKILL')
    await Promise.all([service.launched.exit, ...merging])
    await delay(500)
    service = await serve(service.env)

    const records = async () =>
      (await service.root.get(`${at}?per_page=100`)).json as { state: string; title: string }[]
    const locked = async () => (await records()).filter(({ state }) => state === 'locked')
    await eventually(async () => expect(await locked()).toEqual([]), 200)
    const merged = (await records()).filter(({ state }) => state === 'merged').map(({ title }) => title)
    await git(work, 'fetch', '-q', `${remote}/root/merged.git`, 'main')
    const line = await git(work, 'log', '--first-parent', '--format=%s', 'FETCH_HEAD')
    const inBranch = line.split('\n').flatMap((title) => /^Merge branch '(.*)' into/.exec(title)?.[1] ?? [])
    expect(merged.toSorted()).toEqual(inBranch.toSorted())
    expect(merged).toEqual(expect.arrayContaining(acknowledged))
    service.launched.process.kill('SIGTERM')
    expect(await service.launched.exit).toBe(0)
  })

  test('workers survive kill -9 of PostgreSQL and answer 503 until it is back', async () => {
    const { launched, root } = await serve({ ...(await twoWorkers()), STITHY_LOG_LEVEL: 'warn' })
    const workers = () => launched.named('stithy worker').toSorted()
    const before = workers()
    const statuses = new Set<number>()
    let going = true
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; going; n++)
        statuses.add(
          await root.post('/projects', { path: `w-${writer}-${n}` }).then(
            ({ status }) => status,
            () => 0,
          ),
        )
    })
    await eventually(() => expect(statuses).toContain(201))
    process.kill(postmasterOf(launched), 'SIGKILL')
    await eventually(() => expect(statuses).toContain(503), 1)
    await eventually(
      async () => expect((await root.post('/projects', { path: unique('after') })).status).toBe(201),
      100,
    )
    going = false
    await Promise.all(writers)
    expect([...statuses].toSorted()).toEqual([201, 503])
    expect(workers()).toEqual(before)
    await eventually(() =>
      expect(launched.out).toMatch(/"method":"POST","path":"[^"]*\/projects","msg":"request failed"/),
    )
  })

  test('a restart preserves all state, and a stop leaves no process', async () => {
    const env = await twoWorkers()
    const first = await serve(env)
    const work = await workTree()
    await git(
      work,
      'push',
      '-q',
      `${first.origin.replace('http://', 'http://root:root-token-for-tests@')}/root/kept.git`,
      'main',
    )
    first.launched.process.kill('SIGTERM')
    expect(await first.launched.exit).toBe(0)

    const second = await serve(env)
    const raw = await second.root.get('/projects/root%2Fkept/repository/files/file/raw?ref=main')
    expect(raw).toMatchObject({ status: 200, text: 'content\n' })
    expect(await second.root.get('//-/readiness')).toMatchObject({ status: 200, json: { status: 'ok' } })
    // Each worker reports the requests of all workers.
    const requests = /^stithy_http_requests_total\{method="GET",route="\/api\/v4\/version",status="200"\} (\d+)$/m
    await Promise.all(
      Array.from({ length: 20 }, () => second.root.get('/version', { headers: { connection: 'close' } })),
    )
    const figures = (await second.root.get('//-/metrics')).text
    expect(Number(requests.exec(figures)?.[1])).toBe(20)
    second.launched.process.kill('SIGTERM')
    expect(await second.launched.exit).toBe(0)
  })

  test('tokens created on the command line work at once', async () => {
    const service = await serve(await twoWorkers())
    const made = new Launched(['token', 'create', '--user', 'root', '--scopes', 'read_user'], service.env, {
      file: bin,
    })
    expect(await made.exit, made.err).toBe(0)
    const token = made.out.trim().split('\n').at(-1)!
    const answer = await new Client(service.origin).get('/user', { headers: { 'private-token': token } })
    expect(answer).toMatchObject({ status: 200, json: { username: 'root' } })
    expect((await new Client(service.origin).get('/projects', { headers: { 'private-token': token } })).status).toBe(
      403,
    )
  })
})
