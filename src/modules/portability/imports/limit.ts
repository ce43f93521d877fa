import type { Settings } from '../../../settings/settings.ts'

const mebibyte = 1024 * 1024

/** Maximum size of an archive in bytes. */
export const archiveLimit = ({ max_import_size }: Settings): number =>
  max_import_size === 0 ? Number.MAX_SAFE_INTEGER : max_import_size * mebibyte
