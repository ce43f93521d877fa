import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../kernel/durable.ts'
import { compareRefNames } from '../format/ref-name.ts'
import type { Repository } from '../repository/repository.ts'
import type { RefFile } from './packed-refs.ts'
import type { Ref } from './refs.ts'

/** The content of `packed-refs` for refs in any order. */
export const packedRefsText = (refs: readonly RefFile[]): string =>
  `# pack-refs with: sorted \n${refs
    .toSorted((one, other) => compareRefNames(one.name, other.name))
    .map(lineOf)
    .join('')}`

/** The same with the targets of annotated tags, for refs sorted by name. */
export const peeledRefsText = (refs: readonly Ref[]): string =>
  `# pack-refs with: peeled fully-peeled sorted \n${refs
    .map((ref) => `${lineOf(ref)}${ref.target === ref.oid ? '' : `^${ref.target}\n`}`)
    .join('')}`

const lineOf = ({ oid, name }: RefFile): string => `${oid} ${name}\n`

/** Writes all refs to one packed file, as git does: one fsync instead of one per ref. Only for a repository without refs. */
export async function writePackedRefs(repo: Repository, text: string): Promise<void> {
  await using file = await open(join(repo.gitDir, 'packed-refs'), 'wx')
  await file.writeFile(text)
  await file.sync()
  await syncFolder(repo.gitDir)
}
