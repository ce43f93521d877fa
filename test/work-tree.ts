import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from './world.ts'

/** A clone with one commit on `main`. */
export async function workTree(folder: string): Promise<string> {
  await git(folder, 'init', '-q', '-b', 'main', 'work')
  const work = join(folder, 'work')
  await writeFile(join(work, 'README.md'), '# Hello\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First commit')
  return work
}
