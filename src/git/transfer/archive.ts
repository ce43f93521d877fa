import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import type { Runner } from '../runner/client.ts'
import { settingsEnv } from '../runner/environment.ts'
import { GitError } from '../runner/git-error.ts'
import { watched } from './transfer.ts'

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip'

/** What decides on the bytes of an archive, and what git runs for it: never what a repository's own config says. */
const settings = [
  ['tar.umask', '0002'],
  // Within git: no program, and no time in the header.
  ['tar.tar.gz.command', 'git archive gzip'],
  ['tar.tar.bz2.command', 'bzip2 -c'],
  // A pointer to a large file stays one.
  ['filter.lfs.smudge', ''],
  ['filter.lfs.process', ''],
  ['filter.lfs.required', 'false'],
] as const

export type ArchiveOptions = {
  readonly format: ArchiveFormat
  /** Put before every path as it is: `name/`. */
  readonly prefix: string
  /** Only this file or directory, which must exist; it keeps its whole path. */
  readonly path?: string
}

/**
 * The tree of a commit as an archive: the same bytes each time, with the commit's time on every file, by the attributes of
 * that tree: `export-ignore`, and `export-subst`, which alone may name refs, and then changes with them. One process with
 * constant memory on our side; it ends when the stream is destroyed, or nothing is read from it for ten minutes. Fails
 * before the first byte, or else breaks the stream.
 */
export async function archiveStream(
  repo: Repository,
  commit: Oid,
  { format, prefix, path }: ArchiveOptions,
): Promise<Readable> {
  const child = await repo.start('archive', {
    flags: [`--format=${format}`, `--prefix=${prefix}`],
    // The path is a word of its own here: `archive` takes a `--` after `--end-of-options` for a path.
    args: path === undefined ? [commit] : [commit, path],
    lane: 'transfer',
    timeoutMs: 6 * 60 * 60_000,
    env: settingsEnv(settings),
  })
  watched(child)
  const stream = child.failing(({ code, signal, stderr }) =>
    code === 0 ? undefined : new GitError('archive', code, signal, stderr),
  )
  await once(stream, 'readable')
  return stream
}

const withBzip2 = new WeakSet<Runner>()

/** Whether this machine can make such archives. All but bzip2 are git's own; one short process for that until it is found. */
export async function canArchive({ git: { runner } }: Repository, format: ArchiveFormat): Promise<boolean> {
  if (format !== 'tar.bz2' || withBzip2.has(runner)) return true
  // Asked of the shell that git will ask, in the environment that git will have.
  const child = await runner.start(['-c', 'alias.find=!command -v bzip2 >/dev/null', 'find'], { timeoutMs: 5_000 })
  child.resume()
  const { code } = await child.done
  if (code === 0) withBzip2.add(runner)
  return code === 0
}
