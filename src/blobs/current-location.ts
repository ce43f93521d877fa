import type { Db } from '../db/db.ts'
import { isS3, isSameStore } from './location.ts'
import { findLocation, type Location } from './queries.ts'

const isFolder = (url: string): boolean => !isS3(url)

/** Where blobs are now. */
export const currentLocation = async (db: Db, configured: string): Promise<Location> =>
  underSetting(await findLocation(db), configured)

/**
 * The recorded location, read with the setting: a URL in the setting replaces a recorded one of the same store, and a folder may have
 * been moved by the operator, with the data folder for example.
 */
export function underSetting(recorded: Location | undefined, configured: string): Location {
  if (!recorded) return { url: configured, moving_to: null, moved_from: null, just_moved: false }
  const { url, moving_to, moved_from } = recorded
  const isMovedFolder =
    isFolder(url) &&
    isFolder(configured) &&
    (moving_to === null || isS3(moving_to)) &&
    (moved_from === null || !isSameStore(moved_from, configured))
  return {
    ...recorded,
    url: isSameStore(url, configured) || isMovedFolder ? configured : url,
    moving_to: moving_to !== null && isSameStore(moving_to, configured) ? configured : moving_to,
  }
}

/** Whether the setting may still name the store from which the last move came. */
export const isLeftBehind = ({ moved_from, url }: Location, configured: string): boolean =>
  moved_from !== null &&
  (isSameStore(moved_from, configured) || (isFolder(moved_from) && isFolder(configured) && isS3(url)))
