import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from './testing.ts'

describe('keyset pages of lists from git', () => {
  test.for(['branches', 'tags', 'tree'])(
    'of %s have a link to the next page, under both names, and no number of a page',
    async (list, { world }) => {
      const { id, repository } = await storedProject(world)
      repository.commit({ a: '1', b: '2', c: '3' })
      for (const name of ['heads/x', 'heads/y', 'tags/x', 'tags/y', 'tags/z'])
        repository.git('update-ref', `refs/${name}`, 'main')
      const at = `/projects/${id}/repository/${list}`
      const first = await world.root.get(`${at}?pagination=keyset&per_page=2`)
      expect(first).toMatchObject({ status: 200, json: [{}, {}], headers: { 'x-per-page': '2' } })
      const { link, links } = first.headers
      expect(link).toMatch(/^<[^>]+[?&]page_token=[^>]+>; rel="next"$/)
      expect(links).toBe(link)
      const last = await world.root.get(/^<([^>]+)>/.exec(String(link))![1]!.split('/api/v4')[1]!)
      expect(last).toMatchObject({ status: 200, json: [{}] })
      for (const { headers } of [first, last])
        for (const name of ['x-page', 'x-next-page', 'x-prev-page', 'x-total', 'x-total-pages'])
          expect(headers).not.toHaveProperty(name)
      for (const name of ['link', 'links']) expect(last.headers).not.toHaveProperty(name)
      expect(await world.root.get(`${at}?pagination=keyset&page_token=nothing`)).toMatchObject({
        status: 400,
        json: { error: 'Invalid page token: nothing' },
      })
    },
  )
})
