import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'

/**
 * The path from which the commit renamed or copied a file; `undefined` if the file is new. Only git compares it with all other
 * files: one process, cached.
 */
export async function origin(repo: Repository, commit: Oid, path: string): Promise<string | undefined> {
  const found = await remember(
    repo,
    `origin ${commit}:${path}`,
    async (repo) => {
      const { stdout } = await repo.run('log', {
        flags: ['--follow', '--max-count=1', '--raw', '-z', '--format=', '--no-show-signature', '--no-decorate'],
        args: [commit],
        paths: [path],
      })
      // `:<mode> <mode> <id> <id> R<percent>\0<old>\0<new>\0`
      const [what, old] = stdout.toString('latin1').split('\0')
      const isMoved = what !== undefined && old !== undefined && / [RC]\d*$/.test(what)
      return { path: isMoved ? pathFromBytes(Buffer.from(old, 'latin1')) : undefined }
    },
    () => 100 + 2 * path.length,
  )
  return found.path
}
