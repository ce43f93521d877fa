import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { git, temporaryFolder, test, unique, type World } from '../../../../../test/world.ts'
import type { SettingSchema } from '../../../../settings/declared/schema.ts'

/** A result that depends on the setting. */
type Look = (world: World) => Promise<unknown>

/** A setting, a new value, and the result before and after the change. */
export type Effect = readonly [
  what: string,
  values: Record<string, unknown>,
  look: Look,
  before: unknown,
  after: unknown,
]

/** Tests the effect of each of these settings; `elsewhere` lists those that other tests cover. */
export function showEffects(
  settings: Readonly<Record<string, object>>,
  effects: readonly Effect[],
  elsewhere: readonly string[] = [],
): void {
  describe('effects of settings', () => {
    test('every setting with an effect is tested', () => {
      const shown = [...effects.flatMap(([, values]) => Object.keys(values)), ...elsewhere]
      const active = Object.entries(settings).filter(([, schema]) => (schema as SettingSchema).without === undefined)
      expect([...new Set(shown)].sort()).toEqual(active.map(([name]) => name).sort())
    })

    if (effects.length > 0)
      test.for(effects)('the setting %s takes effect', async ([, values, look, before, after], { world }) => {
        expect(await look(world)).toEqual(before)
        await world.settings({})
        const changed = await world.root.put('/application/settings', values)
        expect(changed.status, changed.text).toBe(200)
        expect((await world.app.open(null)).settings).toMatchObject(values)
        expect(await look(world)).toEqual(after)
      })
  })
}

/** Attributes of a new project, group or user. */
export const made = (attributes: Record<string, unknown> = {}) => ({ name: unique('made'), ...attributes })

/** The record of a new project, read by the first administrator who created it. */
export const newProject = async ({ root }: World, attributes = {}) =>
  (await root.post('/projects', made(attributes))).json

/** The record of a new user, read by an administrator. */
export const newUser = async (world: World) => (await world.root.get(`/users/${(await world.user()).id}`)).json

/** The URL of the first request of a git fetch. */
export const refs = (project: { path_with_namespace: string }) =>
  `//${project.path_with_namespace}.git/info/refs?service=git-upload-pack`

/** Headers for Basic authentication. */
export const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

/**
 * Pushes a file of the given size to the branches of a new project. Returns the project and whether the push succeeded.
 */
export async function push(world: World, bytes: number, branches: readonly string[] = ['main']) {
  const project = await world.project()
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await writeFile(join(folder.path, 'file'), randomBytes(bytes))
  await git(folder.path, 'add', '.')
  await git(folder.path, 'commit', '-q', '-m', 'One file')
  const refs = branches.map((branch) => `HEAD:refs/heads/${branch}`)
  const went = await git(folder.path, 'push', '-q', world.remote(project, world.root), ...refs).then(
    () => true,
    () => false,
  )
  return { project, went }
}
