import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Client, git, type TestGroup, temporaryFolder, type World } from '../../../../test/world.ts'
import type { Visibility } from '../../../access/levels.ts'

export type Held = {
  readonly at: string
  readonly full_path: string
  readonly id: number
  readonly of: 'project' | 'group'
}

export const kinds = ['project', 'group'] as const

export async function holder(
  world: World,
  of: (typeof kinds)[number],
  visibility: Visibility = 'private',
): Promise<Held> {
  const held: TestGroup = of === 'project' ? await world.project({ visibility }) : await world.group({ visibility })
  return { at: `/${of}s/${held.id}/wikis`, full_path: held.full_path, id: held.id, of }
}

export const page = (slug: string) => encodeURIComponent(slug)

export const remoteOf = (world: World, { full_path }: Pick<Held, 'full_path'>, who: Client = world.root): string =>
  `${world.origin.replace('://', `://${who.username}:${who.token}@`)}/${full_path}.wiki.git`

/** Clones the wiki, lets `change` edit the clone, and pushes. */
export async function edited(world: World, held: Held, change: (clone: string) => Promise<unknown>): Promise<void> {
  await using folder = await temporaryFolder()
  await git(folder.path, 'clone', '-q', remoteOf(world, held), 'clone')
  const clone = join(folder.path, 'clone')
  await change(clone)
  await git(clone, 'add', '-A')
  await git(clone, 'commit', '-qm', 'Edit the wiki')
  await git(clone, 'push', '-q', 'origin', 'HEAD')
}

export const write = async (clone: string, files: Record<string, string>): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(clone, path)), { recursive: true })
    await writeFile(join(clone, path), text)
  }
}

export const files = async (world: World, held: Held): Promise<string[]> => {
  await using folder = await temporaryFolder()
  await git(folder.path, 'clone', '-q', remoteOf(world, held), 'clone')
  return (await git(join(folder.path, 'clone'), 'ls-files')).split('\n').filter(Boolean)
}
