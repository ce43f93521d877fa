import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { expectLinear, expectSameCost } from '../../../../test/growth.ts'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { eventually } from '../../../../test/waiting.ts'
import { git, temporaryFolder, test, unique } from '../../../../test/world.ts'
import { PayloadProject } from '../payloads/blocks.ts'
import { hookFor } from './testing.ts'

describe('large payloads', () => {
  test('a push lists long paths up to 65,536 characters, each as a whole', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    await using folder = await temporaryFolder()
    const project = await world.project()
    await hookFor(world, project, receiver.url, { push_events: true })
    await git(folder.path, 'init', '-q', '-b', 'main')
    const long = Array.from({ length: 5 }, () => 'd'.repeat(199)).join('/')
    for (let n = 100; n < 170; n++) {
      const path = join(folder.path, long, String(n))
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, 'x')
    }
    await git(folder.path, 'add', '.')
    await git(folder.path, 'commit', '-q', '-m', 'Add files')
    await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')
    await world.runJobs()
    const { json } = await receiver.request(() => true)
    const { added } = json.commits[0]
    // A path has 1,003 characters.
    expect(added).toHaveLength(65)
    expect(added.at(-1)).toBe(`${long}/164`)
  })

  test('a payload of more than 8 MiB is not sent, and the log says why', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    await using folder = await temporaryFolder()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url, { push_events: true })
    await git(folder.path, 'init', '-q', '-b', 'main')
    // JSON writes six characters for each.
    await writeFile(join(folder.path, 'message'), `x${'\x01'.repeat(99_000)}`)
    for (let n = 0; n < 15; n++) await git(folder.path, 'commit', '-q', '--allow-empty', '-F', 'message')
    await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')
    await world.runJobs()
    await eventually(async () =>
      expect((await world.root.get(`${at}/events`)).json).toMatchObject([
        { state: 'failed', attempts: 1, error: 'The payload is larger than 8 MiB' },
      ]),
    )
    expect(receiver.received).toEqual([])
  })

  test('addresses of images become absolute without reading on from each of their starts', async ({ world }) => {
    const { id } = await world.project()
    const project = (await PayloadProject.load(await contextFor(world, null), id))!
    const link = `](/uploads/${'a'.repeat(32)}/a.png)`
    const read = (text: string) => async () => project.withAbsoluteImages(text)
    await expectSameCost(read('xx'.repeat(500_000)), read('!['.repeat(500_000)))
    expectLinear((size) => project.withAbsoluteImages(`![${link}`.repeat(size)), 5_000)
    const absolute = `](${project.webUrl}${link.slice(2)}`
    const shown = (text: string) => project.withAbsoluteImages(text)
    for (const image of ['![', '![a [b', `![${unique('x')}`, `![${'x'.repeat(500)}`, `![x![${'y'.repeat(500)}`])
      expect(shown(`${image}${link}`)).toBe(`${image}${absolute}`)
    for (const other of ['', '[', '! [', `![${'x'.repeat(501)}`, '![a\nb', '![a]b'])
      expect(shown(`${other}${link}`)).toBe(`${other}${link}`)
    expect(shown(`![a${link} [b${link} ![c${link}`)).toBe(`![a${absolute} [b${link} ![c${absolute}`)
  })
})
