import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Db } from '../db/db.ts'
import { makeFolder } from '../kernel/durable.ts'
import { isDiskFull } from '../kernel/full-disk.ts'
import { isThere } from '../kernel/missing.ts'
import { WrongSetting } from '../kernel/wrong-setting.ts'
import { StoreUnavailable } from './blob-store.ts'
import { type Claimant, claimStore } from './claim.ts'
import { isS3 } from './location.ts'
import { openStore, probeStore } from './open.ts'

export type UseOptions = {
  /** Whether the service has run with this URL before. */
  readonly isKnown: boolean
  /** Whether blobs are only being moved there. */
  readonly mayBeNew: boolean
  /** Whether it is the folder in the data folder. */
  readonly isDefault: boolean
  readonly claimant: Claimant
}

/**
 * Fails unless a store can be used, and marks it as that of the installation. Object storage that does not answer, and did so for an earlier
 * start with the same URL, is down: the rest of the service works without it. Returns notices for the operator.
 */
export async function requireUsable(
  db: Db,
  url: string,
  { isKnown, mayBeNew, isDefault, claimant }: UseOptions,
): Promise<string[]> {
  if (!mayBeNew) await requireNamed(db, url, claimant.missingIn)
  const notices = await requireWorking(url, isKnown)
  if (notices.length === 0) await claimStore(db, url, claimant, { isOwn: isKnown || isDefault })
  return notices
}

async function requireWorking(url: string, isKnown: boolean): Promise<string[]> {
  try {
    if (!isS3(url)) await makeFolder(fileURLToPath(url), 0o700)
    await probeStore(url)
    return []
  } catch (error) {
    const cause = (error as Error).cause ?? error
    // Reads go on, and so do writes when there is room.
    if (isDiskFull(cause)) return []
    const { message } = error as Error
    if (isKnown && cause instanceof StoreUnavailable && cause.isUnanswered)
      return [`The object storage ${url} does not answer: it ${message}. Files in it are not available until it does.`]
    throw isS3(url)
      ? new WrongSetting(`The object storage ${url} (STITHY_BLOB_URL) ${message}.`, { cause: error })
      : new WrongSetting(
          `Cannot write to the folder of blobs ${fileURLToPath(url)} (STITHY_BLOB_URL): ${(cause as Error).message}.`,
          { cause: error },
        )
  }
}

/** Fails if a folder has never had blobs though the database names some: it is another one, or its disk is not mounted. */
export async function requireNamed(db: Db, url: string, missingIn: Claimant['missingIn']): Promise<void> {
  if (isS3(url)) return
  const folder = fileURLToPath(url)
  if (isThere(join(folder, 'sha256'))) return
  const { length } = await missingIn(await openStore(url, db))
  if (length > 0)
    throw new WrongSetting(
      `The folder of blobs ${folder} (STITHY_BLOB_URL) has none, and the database names ${length}: name the folder that has them, ` +
        'or mount its disk. If they are lost, create the folder sha256 in it.',
    )
}
