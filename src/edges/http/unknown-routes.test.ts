import { pino } from 'pino'
import { describe, expect, vi } from 'vitest'
import { test } from '../../../test/world.ts'
import { linesPerMinute, UnknownRoutes } from './unknown-routes.ts'

describe('unknown routes of the API', () => {
  test('a request to an unknown route is a 404 and leaves a line in the log, without query and names', async ({
    world,
  }) => {
    const { log } = await world.app.open(null)
    const info = vi.spyOn(log, 'info')
    try {
      const secret = 'glpat-0123456789abcdefghij'
      const answer = await world.root.get(`/projects/12/gadgets/${secret}/Ann?private_token=${secret}`)
      expect(answer).toMatchObject({ status: 404, json: { error: '404 Not Found' } })
      await world.root.get('/version')
      const lines = info.mock.calls.filter(([, message]) => message === 'unknown route')
      expect(lines).toEqual([
        [{ method: 'GET', path: '/api/v4/projects/12/gadgets/*/*', request_id: expect.any(String) }, 'unknown route'],
      ])
    } finally {
      info.mockRestore()
    }
  })

  test('further unknown routes within a minute are counted, not logged', () => {
    const lines: { path: string; suppressed?: number }[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    let now = 0
    const routes = new UnknownRoutes(log, () => now)
    for (let at = 0; at < linesPerMinute + 5; at++) routes.report('GET', '/api/v4/gadgets', 'x')
    expect(lines).toHaveLength(linesPerMinute)
    now += 60_000
    routes.report('GET', '/api/v4/gizmos', 'x')
    expect(lines.at(-1)).toMatchObject({ path: '/api/v4/gizmos', suppressed: 5 })
    routes.report('GET', '/api/v4/gizmos', 'x')
    expect(lines.at(-1)).not.toHaveProperty('suppressed')
  })
})
