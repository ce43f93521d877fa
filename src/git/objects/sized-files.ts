import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import type { Repository } from '../repository/repository.ts'
import { readCommit } from './commits.ts'
import { isLoose, readLooseObject } from './read-object.ts'
import { MalformedTree, readTree } from './trees.ts'

export type SizedFile = { readonly path: string; readonly oid: Oid; readonly sizeBytes: number }

/**
 * The first `limit` files of a commit or tree with their sizes, in git's order, without symbolic links and submodules. One process,
 * stopped at the limit; none if there are few and they are not packed.
 */
export const listSizedFiles = async (repo: Repository, treeish: Oid, limit: number): Promise<SizedFile[]> =>
  (await looseFiles(repo, treeish))?.slice(0, limit) ?? listByGit(repo, treeish, limit)

/** Objects that are read one by one. */
const fewObjects = 100

/** Undefined if git should list them: one of these trees and files is packed or large, or they are many. */
async function looseFiles(repo: Repository, treeish: Oid): Promise<SizedFile[] | undefined> {
  const files: SizedFile[] = []
  let read = 0
  const list = async (tree: Oid, prefix: string): Promise<boolean> => {
    const entries = isLoose(repo, tree) && ++read <= fewObjects ? await readTree(repo, tree) : undefined
    for (const { name, mode, type, oid } of entries ?? []) {
      if (type === 'tree') {
        if (!(await list(oid, `${prefix}${name}/`))) return false
      } else if (mode.startsWith('100')) {
        const blob = ++read <= fewObjects ? await readLooseObject(repo, oid) : undefined
        if (!blob) return false
        files.push({ path: prefix + name, oid, sizeBytes: blob.sizeBytes })
      }
    }
    return entries !== undefined
  }
  try {
    const root = (await readLooseObject(repo, treeish))?.type === 'commit' ? await readCommit(repo, treeish) : undefined
    return (await list(root?.tree ?? treeish, '')) ? files : undefined
  } catch (error) {
    if (error instanceof MalformedTree) return undefined
    throw error
  }
}

async function listByGit(repo: Repository, treeish: Oid, limit: number): Promise<SizedFile[]> {
  const command = {
    flags: ['-r', '-l', '-z', '--full-tree'],
    args: [treeish],
    lane: 'transfer',
    timeoutMs: 10 * 60_000,
  } as const
  const files: SizedFile[] = []
  for await (const lines of repo.records('ls-tree', command, { end: '\0' })) {
    for (const line of lines) {
      const file = parseLine(line)
      if (file) files.push(file)
    }
    if (files.length >= limit) return files.slice(0, limit)
  }
  return files
}

/** `<mode> <type> <oid> <size, padded>\t<path>` */
function parseLine(line: Buffer): SizedFile | undefined {
  const tab = line.indexOf(9)
  const [mode, , oid, size] = line.toString('latin1', 0, tab).split(/ +/) as [string, string, Oid, string]
  if (!mode.startsWith('100')) return undefined
  return { path: pathFromBytes(line.subarray(tab + 1)), oid, sizeBytes: Number(size) }
}
