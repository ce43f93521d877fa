import { describe, expect } from 'vitest'
import { test, unique, type World } from '../../../../test/world.ts'

/**
 * Settings without effect, because the product lacks the feature: stored, validated and returned. When the feature is
 * implemented, move its row from here to a test of its effect in effects/.
 */

/** A setting, a new value, a refused value, and a result that does not depend on it. */
const storedOnly: readonly [
  what: string,
  values: Record<string, unknown>,
  refused: Record<string, unknown>,
  look: (world: World) => Promise<unknown>,
][] = [
  [
    'limits of a search index',
    { search_engine_limit_indexing: true, search_engine_namespace_ids: [1], search_engine_project_ids: [999_999] },
    { search_engine_project_ids: ['one'] },
    async ({ root }) => {
      const name = unique('sought')
      const { id } = (await root.post('/projects', { name })).json
      const found = await root.get(`/search?scope=projects&search=${name}`)
      return found.json.map((project: { id: number }) => project.id === id)
    },
  ],
]

describe('settings without effect', () => {
  test.for(storedOnly)(
    'the setting of "%s" is stored, validated and has no effect',
    async ([, values, refused, look], { world }) => {
      const before = await look(world)
      await world.settings({})
      expect((await world.root.put('/application/settings', refused)).status).toBe(400)
      expect(await world.root.put('/application/settings', values)).toMatchObject({ status: 200, json: values })
      expect((await world.app.open(null)).settings).toMatchObject(values)
      expect((await world.root.get('/application/settings')).json).toMatchObject(values)
      expect(await look(world)).toEqual(before)
    },
  )
})
