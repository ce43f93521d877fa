import type { PatchLimits } from '../../../git/history/patch-reader.ts'
import type { Settings } from '../../../settings/settings.ts'

/** Limits of a diff. */
export const diffLimits = ({ diff_max_patch_bytes }: Settings): PatchLimits => ({
  files: 1000,
  lines: 50_000,
  bytes: 5_120_000,
  fileBytes: diff_max_patch_bytes,
})
