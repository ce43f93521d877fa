import { expect } from 'vitest'
import type { World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { type Crafted, craft, entriesOf, exportOf, importOf } from '../testing.ts'

export const at = '2019-06-07T08:00:00.123Z'
export const times = { created_at: at, updated_at: at }

/** Imports the records as an archive of the reference product, and returns how to read the project. */
export async function imported(
  world: World,
  tree: object,
  fields: Readonly<Record<string, string>> = {},
  more: readonly Crafted[] = [],
  {
    admin = true,
    replace = ['"@"', ''],
  }: { readonly admin?: boolean; readonly replace?: readonly [string, string] } = {},
) {
  const importer = await world.user({ admin })
  const entries = [
    { name: './VERSION', content: '0.2.4\n' },
    { name: './project.json', content: JSON.stringify({ visibility_level: 0, ...tree }).replaceAll(...replace) },
    ...more,
  ]
  const { id, import_status, import_error } = await importOf(world, craft(entries), importer, fields)
  expect({ import_status, import_error }).toEqual({ import_status: 'finished', import_error: null })
  const get = async (path: string) => (await importer.get(`/projects/${id}${path}`)).json
  return Object.assign(get, { importer })
}

/** The branches `main` and `topic` as a bundle, and the head of the second. */
export async function code(world: World) {
  const project = await storedProject(world)
  const base = project.repository.commit({ a: 'a\n' })
  const head = project.repository.commit({ a: 'b\n' }, { parents: [base], branch: 'topic' })
  return { head, base, bundle: (await entriesOf(await exportOf(world, project.id))).get('project.bundle')! }
}

export const request = {
  iid: 1,
  title: 'Change',
  source_branch: 'topic',
  target_branch: 'main',
  source_project_id: 1,
  target_project_id: 1,
  author_id: 11,
  state: 'opened',
  ...times,
}
