import type { Database } from '../db/db.ts'
import { WrongSetting } from '../kernel/wrong-setting.ts'
import { isLeftBehind, underSetting } from './current-location.ts'
import { isS3, storeName } from './location.ts'
import { findLocation, type Location, lockLocation, saveLocation } from './queries.ts'

export type SettleOptions = {
  /** The setting. */
  readonly configured: string
  /** Whether the folder in the data folder has blobs. */
  readonly hasFilesByDefault: () => Promise<boolean>
  /**
   * Fails if the store cannot be used; returns notices. `isKnown`: the service has run with this URL before. `mayBeNew`: blobs are only being
   * moved there.
   */
  readonly requireUsable: (url: string, state: { isKnown: boolean; mayBeNew: boolean }) => Promise<string[]>
  /** Fails if the store, from which blobs are being moved, is another installation's. */
  readonly requireOwn: (url: string) => Promise<void>
}

/**
 * Makes the stored location and the setting agree when the service starts. Fails if the setting names a store that does not have
 * the blobs, or that cannot be used. Returns notices for the operator.
 */
export async function settleLocation(db: Database, options: SettleOptions): Promise<string[]> {
  const { configured } = options
  const recorded = await findLocation(db)
  const before = await agreed(recorded, options)
  const target = before.moving_to ?? before.url
  const isKnown = recorded !== undefined && [recorded.url, recorded.moving_to].includes(target)
  const mayBeNew = before.moving_to !== null
  const notices = await options.requireUsable(target, { isKnown, mayBeNew })
  if (before.moving_to !== null) await options.requireOwn(before.url)
  return await db.transaction(async (tx) => {
    const recorded = await lockLocation(tx)
    const now = await agreed(recorded, options)
    const { url, moving_to } = now
    if (url === configured) {
      const settled = { ...now, moved_from: moving_to === null ? null : now.moved_from }
      if (recorded?.url !== url || recorded.moved_from !== settled.moved_from) await saveLocation(tx, settled)
      return notices
    }
    if (moving_to === configured) return notices
    return [...notices, `Blobs have been moved to ${storeName(url)}: set STITHY_BLOB_URL=${url}`]
  })
}

/** Where blobs are. Fails if the setting names another store. */
async function agreed(
  recorded: Location | undefined,
  { configured, hasFilesByDefault }: SettleOptions,
): Promise<Location> {
  if (!recorded && isS3(configured) && (await hasFilesByDefault()))
    throw refusal('the folder blobs in the data folder', configured)
  const now = underSetting(recorded, configured)
  if (now.url !== configured && now.moving_to !== configured && !isLeftBehind(now, configured))
    throw refusal(storeName(now.url), configured)
  return now
}

const refusal = (where: string, configured: string): WrongSetting =>
  new WrongSetting(
    `Blobs are stored in ${where}, and STITHY_BLOB_URL names ${storeName(configured)}. Set it back, and run stithy blobs move --to ${configured}`,
  )
