import { oidBytes } from './oid.ts'

/** Sizes in bytes of what a pack begins and ends with: its signature, version and number of objects; the hash of all before (gitformat-pack). */
export const packHeaderBytes = 12
export const packTrailerBytes = oidBytes

/** Numbers of the types of whole objects in a pack. */
export const packTypes = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
