import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import { Failure } from '../kernel/failure.ts'

/** What group and others may do. */
const ofOthers = 0o077

/** From here on this process and those that it starts make files and folders that are private. */
export function makeFilesPrivate(): void {
  process.umask(ofOthers)
}

/**
 * Takes the permissions of other users away from all that a former version, or a copy, left open in the data folder and the
 * folder of blobs. Returns how many files and folders had some. A folder that is private is not searched: nothing in it can be
 * reached; of the data folder itself, each entry is looked at. Fails with one sentence where this user may not change a mode.
 */
export function closeToOthers({ dataDir, blobUrl }: Pick<Config, 'dataDir' | 'blobUrl'>): number {
  let closed = 0
  /** Folders last, so that a search that was cut off is repeated. */
  const close = (path: string, facts: Stats) => {
    if (!(facts.isFile() || facts.isDirectory()) || (facts.mode & ofOthers) === 0) return
    if (facts.isDirectory()) for (const name of namesIn(path)) visit(join(path, name))
    chmod(path, facts)
    closed++
  }
  const visit = (path: string) => {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    if (facts) close(path, facts)
  }
  const data = statSync(dataDir)
  if ((data.mode & ofOthers) !== 0) {
    // This first: it closes all that is below.
    chmod(dataDir, data)
    closed++
  }
  const entries = namesIn(dataDir).map((name) => join(dataDir, name))
  const postgres = join(dataDir, 'postgres')
  // The programs of PostgreSQL may be beside its data, for a user who must be able to run them.
  const ours = ['cluster', 'log', 'socket'].map((name) => join(postgres, name))
  for (const path of [...entries.filter((entry) => entry !== postgres), ...ours, fileURLToPath(blobUrl)]) {
    // An entry may be a link to a folder on another disk.
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts) close(path, facts)
  }
  const home = lstatSync(postgres, { throwIfNoEntry: false })
  if (home?.isDirectory() && (home.mode & ofOthers) !== 0) {
    chmod(postgres, home)
    closed++
  }
  return closed
}

/** None of a folder that has gone. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function chmod(path: string, { mode, uid }: Stats): void {
  try {
    chmodSync(path, mode & 0o7777 & ~ofOthers)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw new Failure(
      'unavailable',
      `Other users have permissions on ${path}, which belongs to user ${uid}: run chmod -R go-rwx on it as that user, or start Stithy as that user.`,
      { cause },
    )
  }
}
