import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { similarFiles } from '../likeness/similar-files.ts'
import { readCommits } from '../objects/commits.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'

/** Maximum files that git compares by path; with more, it compares all. */
const maxCompared = 100

/** A file that a commit added, perhaps by a rename, in a history in which it has one parent. */
export type RenamedFile = { readonly commit: Oid; readonly parent: Oid; readonly path: string; readonly blob: Oid }

/**
 * The path from which the commit renamed or copied a file; `undefined` if the file is new. Git compares it with every other file,
 * which takes a process that reads all of them; sketches exclude most files, usually all of them, without one. Cached.
 */
export async function origin(repo: Repository, file: RenamedFile): Promise<string | undefined> {
  const found = await memoize(
    repo,
    `origin ${file.commit}:${file.path}`,
    async (repo) => {
      const [commit, parent] = await readCommits(repo, [file.commit, file.parent])
      const similar = commit && parent && (await similarFiles(repo, { ...file, parentTree: parent.tree }))
      if (similar?.length === 0) return { path: undefined }
      const isShort = similar && similar.length <= maxCompared && similar.every((path) => path.isWellFormed())
      const { stdout } = isShort
        ? await repo.run('diff-tree', {
            flags: ['-r', '--raw', '-z', '-C', '--find-copies-harder'],
            args: [parent!.tree, commit!.tree],
            paths: [file.path, ...similar],
          })
        : await repo.run('log', {
            flags: ['--follow', '--max-count=1', '--raw', '-z', '--format=', '--no-show-signature', '--no-decorate'],
            args: [file.commit],
            paths: [file.path],
          })
      return { path: originIn(stdout.toString('latin1'), file.path) }
    },
    () => 100 + 2 * file.path.length,
  )
  return found.path
}

/** Records `:<mode> <mode> <id> <id> R<percent>\0<old>\0<new>\0`; those that are no renames or copies have one path. */
function originIn(output: string, path: string): string | undefined {
  const fields = output.split('\0')
  for (let at = 0; at < fields.length; ) {
    if (!/ [RC]\d*$/.test(fields[at]!)) {
      at += 2
      continue
    }
    const [old, now] = [fields[at + 1], fields[at + 2]]
    if (old !== undefined && now !== undefined && pathFromBytes(Buffer.from(now, 'latin1')) === path)
      return pathFromBytes(Buffer.from(old, 'latin1'))
    at += 3
  }
  return undefined
}
