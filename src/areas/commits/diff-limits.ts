import type { PatchLimits } from '../../git/patches.ts'

/** How much of a difference is shown. `fileBytes` is the default of the setting `diff_max_patch_bytes`, which is not kept yet. */
export const diffLimits: PatchLimits = { files: 1000, lines: 50_000, bytes: 5_120_000, fileBytes: 102_400 }
