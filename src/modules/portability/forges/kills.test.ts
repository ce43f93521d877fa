import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { largeForge } from '../../../../test/forge/data.ts'
import { FakeForge } from '../../../../test/forge/fake-forge.ts'
import { freshEnv, type Service, serve } from '../../../../test/service.ts'
import { waitMs } from '../../../../test/waiting.ts'
import type { Client } from '../../../../test/world.ts'
import { gitOf, request } from './testing.ts'

/** Issues and pull requests. The other forge has fewer: its import differs only in what is read. */
const sizes = { github: [300, 60], gitea: [150, 30] } as const

async function all(who: Client, path: string): Promise<any[]> {
  const found: any[] = []
  for (let page = 1; ; page++) {
    const { json } = await who.get(`${path}per_page=100&page=${page}`)
    found.push(...json)
    if (json.length < 100) return found
  }
}

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)

describe('kill -9 while a forge is imported', () => {
  test.each(['github', 'gitea'] as const)(
    'an import from %s that is killed three times is complete, and has nothing twice',
    async (name) => {
      const [issues, pulls] = sizes[name]
      const middle = issues + pulls / 2
      const data = largeForge(issues, pulls)
      await using forge = await FakeForge.start(name, data, await gitOf(data))
      let service: Service = await serve(await freshEnv())
      const { root } = service
      await root.put('/application/settings', { outbound_local_requests_whitelist: ['127.0.0.1'] })
      // The first kill takes the jobs process, in the middle of the issues; the second the whole service, among the reviews; the third
      // the jobs process, when the code is there.
      const kills: [RegExp, (now: Service) => Promise<unknown>][] = [
        [/\/issues\?.*page=3/, ({ launched }) => launched.killNamed('stithy jobs')],
        [
          new RegExp(`/pulls/${middle}/reviews`),
          async ({ launched, env }) => {
            process.kill(launched.pid, 'SIGKILL')
            await launched.exit
            service = await serve(env)
          },
        ],
      ]
      kills.push([/code\.wiki\.git\/info/, ({ launched }) => launched.killNamed('stithy jobs')])
      const working: Promise<unknown>[] = []
      forge.before = async (path) => {
        if (!kills[0]?.[0].test(path)) return
        const [, kill] = kills.shift()!
        const done = kill(service)
        working.push(done)
        await done
      }
      const { json } = await request(root, forge)
      const at = `/projects/${json.id}`
      // Three restarts take longer than most that tests wait for.
      await expect
        .poll(async () => (await root.get(`${at}/import`)).json, { timeout: 2 * waitMs })
        .toMatchObject({ import_status: 'finished', import_error: null })
      await Promise.all(working)
      expect(kills).toEqual([])

      const found = await all(root, `${at}/issues?`)
      expect(found.map(({ iid }) => iid).sort((a, b) => a - b)).toEqual(numbers(1, issues))
      const merges = await all(root, `${at}/merge_requests?`)
      expect(merges.map(({ iid }) => iid).sort((a, b) => a - b)).toEqual(numbers(issues + 1, pulls))
      for (const iid of [1, issues / 2, issues]) {
        const notes = (await root.get(`${at}/issues/${iid}/notes`)).json
        expect(notes.map((note: any) => note.body.split('\n')[0])).toEqual([`Comment on ${iid}`])
      }
      for (const iid of [issues + 1, middle, issues + pulls]) {
        const notes = (await root.get(`${at}/merge_requests/${iid}/notes?sort=asc`)).json
        expect(notes.map((note: any) => note.body.split('\n')[0]).sort()).toEqual([
          '**Review:** Commented',
          `Comment on ${iid}`,
        ])
      }
      expect((await root.get(`${at}/import`)).json).toMatchObject({
        failed_relations: [{ exception_message: 'v2.0: it is a draft' }],
        stats: {
          imported: { issue: issues, pull_request: pulls, note: issues + pulls, pull_request_review: pulls, wiki: 1 },
        },
      })
      // No page was read twice, except those that were being read.
      const repeated = forge.asked.length - new Set(forge.asked).size
      expect(repeated).toBeLessThanOrEqual(5)
      // The pages are removed after the import has ended.
      for (const folder of ['forges', 'archives'])
        await expect.poll(() => readdir(join(service.env.STITHY_DATA_DIR, 'tmp', folder)).catch(() => [])).toEqual([])
    },
  )
})
