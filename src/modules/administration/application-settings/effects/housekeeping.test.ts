import { housekeeping } from '../../../../settings/declared/housekeeping.ts'
import { showEffects } from './testing.ts'

showEffects(
  housekeeping,
  [],
  // Tested elsewhere, because it takes several steps.
  [
    'housekeeping_bitmaps_enabled',
    'housekeeping_enabled',
    'housekeeping_full_repack_period',
    'housekeeping_gc_period',
    'housekeeping_incremental_repack_period',
  ],
)
