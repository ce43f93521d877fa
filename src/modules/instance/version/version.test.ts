import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'

describe('GET /version and /metadata', () => {
  test('version and metadata name the API release, the revision and the edition', async ({ world }) => {
    const ann = await world.user()
    const version = await ann.get('/version')
    expect(version).toMatchObject({
      status: 200,
      json: {
        version: '13.12.0-ee',
        revision: expect.stringMatching(/^stithy-/),
        kas: { enabled: false, externalUrl: null, version: null },
        enterprise: true,
      },
    })
    expect((await ann.get('/metadata')).json).toEqual(version.json)
  })
  test('401 for version and metadata without a token', async ({ world }) => {
    for (const path of ['/version', '/metadata'])
      expect(await world.anonymous.get(path)).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
  })
})
