import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'
import { git } from '../world.ts'

test('acknowledged pages and pushes of a wiki survive kill -9 of any process, each with one event', async () => {
  let service = await serve({ ...(await freshEnv()), STITHY_PROCESSES: '2' })
  expect((await service.root.post('/projects', { path: 'crash' })).status).toBe(201)
  const at = '/projects/root%2Fcrash/wikis'
  expect((await service.root.post(at, { title: 'home', content: 'home' })).status).toBe(201)
  const folder = await temporaryFolder()
  const remote = () => `${service.origin.replace('http://', 'http://root:root-token-for-tests@')}/root/crash.wiki.git`
  await git(folder, 'clone', '-q', remote(), 'work')
  const work = `${folder}/work`

  const written: string[] = []
  const pushed: string[] = []
  let going = true
  const writer = async (name: string) => {
    for (let n = 0; going; n++) {
      const title = `${name}${n}`
      const answer = await service.root.post(at, { title, content: title }).catch(() => undefined)
      if (answer?.status === 201) written.push(title)
      else await delay(50)
    }
  }
  const pusher = async () => {
    for (let n = 0; going; n++) {
      const done = await git(work, 'push', '-q', remote(), `HEAD:refs/heads/side-${n}`).catch(() => undefined)
      if (done === undefined) await delay(50)
      else pushed.push(`refs/heads/side-${n}`)
    }
  }
  const busy = [writer('a'), writer('b'), pusher()]
  const more = async () => {
    const before = written.length
    await eventually(() => expect(written.length).toBeGreaterThan(before + 1))
  }
  for (const title of ['stithy worker', 'stithy git runner', 'stithy jobs']) {
    await delay(300)
    await service.launched.killNamed(title)
    await more()
  }
  process.kill(service.launched.pid, 'SIGKILL')
  await service.launched.exit
  await delay(500)
  service = await serve(service.env)
  await more()
  going = false
  await Promise.all(busy)

  const pages: string[] = []
  for (let page = 1; page !== 0; ) {
    const { json, headers } = await service.root.get(`${at}?per_page=100&page=${page}`)
    pages.push(...json.map(({ slug }: { slug: string }) => slug))
    page = Number(headers['x-next-page'])
  }
  expect(pages).toEqual(expect.arrayContaining(written))
  const refs = await git(work, 'ls-remote', '--heads', remote())
  for (const ref of pushed) expect(refs).toContain(ref)
  // A page of a request that was never answered may exist; it has its event, too, once recovery has settled it.
  const events = async () => {
    const titles: string[] = []
    for (let page = 1; page !== 0; ) {
      const { json, headers } = await service.root.get(`/projects/root%2Fcrash/events?per_page=100&page=${page}`)
      for (const { target_type, target_title } of json) if (target_type === 'WikiPage::Meta') titles.push(target_title)
      page = Number(headers['x-next-page'])
    }
    return titles.toSorted()
  }
  await eventually(async () => expect(await events()).toEqual(pages.toSorted()))

  service.launched.process.kill('SIGTERM')
  expect(await service.launched.exit).toBe(0)
  const check = new Launched(['check'], service.env, { file: bin })
  expect([await check.exit, check.err]).toEqual([
    0,
    expect.stringMatching(
      /^checked repositories up to project \d+\nchecked wikis and snippets up to repository \d+\n$/,
    ),
  ])
})
