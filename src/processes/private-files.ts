import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import { Failure } from '../kernel/failure.ts'
import { isMissing } from '../kernel/missing.ts'

/** Permissions of group and others. */
const ofOthers = 0o077

/** Makes new files and folders of this process and its children private. */
export function makeFilesPrivate(): void {
  process.umask(ofOthers)
}

/**
 * Removes the permissions of other users from files in the data folder and the blob folder that an earlier version, or a copy,
 * left accessible. Returns the number of changed files and folders. Does not search private folders, whose content is
 * unreachable anyway, but checks each entry of the data folder itself. Fails with a readable message if this user may not
 * change a mode.
 */
export function closeToOthers({ dataDir, blobUrl }: Pick<Config, 'dataDir' | 'blobUrl'>): number {
  let closed = 0
  /** Folders last, so that an interrupted run is repeated. */
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
    // First, because it protects everything below.
    chmod(dataDir, data)
    closed++
  }
  const entries = namesIn(dataDir).map((name) => join(dataDir, name))
  const postgres = join(dataDir, 'postgres')
  // PostgreSQL's programs may lie beside its data, and another user may have to run them.
  const ours = ['cluster', 'log', 'socket'].map((name) => join(postgres, name))
  const blobs = blobUrl.startsWith('file:') ? [fileURLToPath(blobUrl)] : []
  for (const path of [...entries.filter((entry) => entry !== postgres), ...ours, ...blobs]) {
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

/** Empty if the folder no longer exists. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function chmod(path: string, { mode, uid }: Stats): void {
  try {
    chmodSync(path, mode & 0o7777 & ~ofOthers)
  } catch (cause) {
    if (isMissing(cause)) return
    throw new Failure(
      'unavailable',
      `Other users have permissions on ${path}, which belongs to user ${uid}: run chmod -R go-rwx on it as that user, or start Stithy as that user.`,
      { cause },
    )
  }
}
