import { count, flag } from '../schema.ts'

/** How repositories are kept small and fast. */
export const housekeeping = {
  housekeeping_enabled: flag(true, 'Repositories are packed after pushes'),
  housekeeping_bitmaps_enabled: flag(true, 'Full packs have a bitmap, which makes clones fast'),
  housekeeping_incremental_repack_period: count(10, 'Pushes after which new objects are packed; 0 never'),
  housekeeping_full_repack_period: count(50, 'Pushes after which everything is packed anew; 0 never'),
  housekeeping_gc_period: count(200, 'Pushes after which what nothing reaches is removed, too; 0 never'),
}
