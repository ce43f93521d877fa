import { housekeeping } from '../../../../settings/declared/housekeeping.ts'
import { showEffects } from './testing.ts'

showEffects(
  housekeeping,
  [],
  // Shown where the thing itself is tested, because it takes more than one look.
  [
    'housekeeping_bitmaps_enabled',
    'housekeeping_enabled',
    'housekeeping_full_repack_period',
    'housekeeping_gc_period',
    'housekeeping_incremental_repack_period',
  ],
)
