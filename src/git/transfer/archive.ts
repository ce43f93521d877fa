import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import type { Runner } from '../runner/client.ts'
import { settingsEnv } from '../runner/environment.ts'
import { watched } from './serving.ts'

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip'

/**
 * Settings that determine the bytes of an archive and the programs that git runs for it; they override the repository's config.
 */
const settings = [
  ['tar.umask', '0002'],
  // Built into git: no other program, and no time in the header.
  ['tar.tar.gz.command', 'git archive gzip'],
  ['tar.tar.bz2.command', 'bzip2 -c'],
  // LFS pointers stay pointers.
  ['filter.lfs.smudge', ''],
  ['filter.lfs.process', ''],
  ['filter.lfs.required', 'false'],
] as const

export type ArchiveOptions = {
  readonly format: ArchiveFormat
  /** Prepended to every path unchanged: `name/`. */
  readonly prefix: string
  /** Only this file or directory, which must exist; entries keep their whole paths. */
  readonly path?: string
}

/**
 * The tree of a commit as an archive: the same bytes each time, with the commit's time on every file. Respects the attributes
 * `export-ignore` and `export-subst` of that tree; only the latter may name refs, and then changes with them. One process with
 * constant memory on the server's side; it ends when the stream is destroyed, or after ten minutes without a read. Rejects if
 * git fails before the first byte; later failures break the stream.
 */
export const archiveStream = (repo: Repository, commit: Oid, options: ArchiveOptions): Promise<Readable> =>
  // Nothing was sent yet.
  repo.repeating('archive', () => beginArchive(repo, commit, options))

/** Resolves when there is a first byte. */
async function beginArchive(
  repo: Repository,
  commit: Oid,
  { format, prefix, path }: ArchiveOptions,
): Promise<Readable> {
  const stream = await repo.stream('archive', {
    flags: [`--format=${format}`, `--prefix=${prefix}`],
    // As a plain argument: after `--end-of-options`, `archive` takes `--` for a path.
    args: path === undefined ? [commit] : [commit, path],
    lane: 'transfer',
    timeoutMs: 6 * 60 * 60_000,
    env: settingsEnv(settings),
  })
  watched(stream, { end: () => stream.destroy(new Failure('unavailable', 'The archive was not read for too long')) })
  await once(stream, 'readable')
  return stream
}

const withBzip2 = new WeakSet<Runner>()

/**
 * Whether this machine can create such archives. Git needs an external program only for bzip2; one short process until it has
 * been found.
 */
export async function canArchive({ git: { runner } }: Repository, format: ArchiveFormat): Promise<boolean> {
  if (format !== 'tar.bz2' || withBzip2.has(runner)) return true
  // Checks in the shell and the environment that git will use.
  const child = await runner.start(['-c', 'alias.find=!command -v bzip2 >/dev/null', 'find'], { timeoutMs: 5_000 })
  child.resume()
  const { code } = await child.done
  if (code === 0) withBzip2.add(runner)
  return code === 0
}
