import { describe, expect } from 'vitest'
import { test, unique } from '../world.ts'

/** What Firefox and Chrome send. */
const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' }

describe('pages for browsers', () => {
  test('/ explains the service to a browser and links to the API page', async ({ world }) => {
    const { status, text, headers } = await world.anonymous.get('//', { headers: browser })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-content-type-options': 'nosniff',
      vary: expect.stringContaining('Accept'),
    })
    expect(text).toContain(`<a href="${world.config.externalUrl}/-/docs">`)
    expect((await world.anonymous.get('//-/docs', { headers: browser })).status).toBe(200)
    expect(await world.anonymous.get('//')).toMatchObject({ status: 404, json: { error: '404 Not Found' } })
  })

  test('an address has the same page whether the user or project is public, private or missing', async ({ world }) => {
    const open = await world.project({ visibility: 'public' })
    const hidden = await world.project()
    const user = await world.user()
    const missing = unique('missing')
    const pages = await Promise.all(
      [open.full_path, hidden.full_path, missing, `${missing}/x`, user.username, `${hidden.full_path}/-/tree/main`].map(
        async (path) => {
          const { status, text, headers } = await world.anonymous.get(`//${path}`, { headers: browser })
          return { status, text, type: headers['content-type'], length: headers['content-length'] }
        },
      ),
    )
    expect(new Set(pages.map((page) => JSON.stringify(page))).size).toBe(1)
    expect(pages[0]).toMatchObject({ status: 404, type: 'text/html; charset=utf-8' })
    expect(pages[0]!.text).toContain('/-/docs">')
  })

  test('errors of files are pages for browsers and JSON for other clients', async ({ world }) => {
    for (const path of [
      '//uploads/-/system/user/avatar/999999/x.png',
      `//${unique('a')}/b/uploads/${'0'.repeat(32)}/f`,
    ]) {
      const page = await world.anonymous.get(path, { headers: browser })
      expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
      const json = await world.anonymous.get(path)
      expect([json.status, json.headers['content-type']]).toEqual([404, 'application/json'])
      expect(json.headers['vary']).toContain('Accept')
    }
  })

  test('the API, OAuth and clients that prefer JSON always get JSON', async ({ world }) => {
    for (const [path, accept] of [
      ['/none', browser.accept],
      ['/projects/999999', browser.accept],
      ['//oauth/token/info', browser.accept],
      ['//none', 'application/json, text/html'],
      ['//none', '*/*'],
    ] as const) {
      const { status, json } = await world.anonymous.get(path, { headers: { accept } })
      expect(status, path).toBeGreaterThanOrEqual(401)
      expect(json, path).toBeTypeOf('object')
    }
    const posted = await world.anonymous.send('POST', '//none', { headers: browser, json: {} })
    expect(posted.json).toEqual({ error: '404 Not Found' })
  })
})
