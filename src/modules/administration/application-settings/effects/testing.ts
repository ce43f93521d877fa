import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { git, temporaryFolder, test, unique, type World } from '../../../../../test/world.ts'
import type { SettingSchema } from '../../../../settings/declared/schema.ts'

/** What somebody sees who looks from outside. */
type Look = (world: World) => Promise<unknown>

/** A setting, what it is changed to, and what is seen before and after. */
export type Effect = readonly [
  what: string,
  values: Record<string, unknown>,
  look: Look,
  before: unknown,
  after: unknown,
]

/** Shows what each of these settings does that does something; `elsewhere` are those that are shown by other tests. */
export function showEffects(
  settings: Readonly<Record<string, object>>,
  effects: readonly Effect[],
  elsewhere: readonly string[] = [],
): void {
  describe('what settings do', () => {
    test('is shown for every one that does something', () => {
      const shown = [...effects.flatMap(([, values]) => Object.keys(values)), ...elsewhere]
      const active = Object.entries(settings).filter(([, schema]) => (schema as SettingSchema).without === undefined)
      expect([...new Set(shown)].sort()).toEqual(active.map(([name]) => name).sort())
    })

    if (effects.length > 0)
      test.for(effects)('%s', { timeout: 30_000 }, async ([, values, look, before, after], { world }) => {
        expect(await look(world)).toEqual(before)
        await world.settings({})
        const changed = await world.root.put('/application/settings', values)
        expect(changed.status, changed.text).toBe(200)
        expect((await world.app.open(null)).settings).toMatchObject(values)
        expect(await look(world)).toEqual(after)
      })
  })
}

/** Attributes of something new. */
export const made = (attributes: Record<string, unknown> = {}) => ({ name: unique('made'), ...attributes })

/** A project as the first administrator sees it who made it. */
export const newProject = async ({ root }: World, attributes = {}) =>
  (await root.post('/projects', made(attributes))).json

/** The same of a person. */
export const newUser = async (world: World) => (await world.root.get(`/users/${(await world.user()).id}`)).json

/** Where git begins to fetch. */
export const refs = (project: { path_with_namespace: string }) =>
  `//${project.path_with_namespace}.git/info/refs?service=git-upload-pack`

/** Headers with a name and a password. */
export const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

/** Pushes a file of the given size to the branches of a new project. Returns the project and whether the push succeeded. */
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
