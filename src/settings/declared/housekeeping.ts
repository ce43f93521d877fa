import { notLessThan } from '../rules.ts'
import { count, flag } from '../schema.ts'

/** How repositories are kept small and fast. */
export const housekeeping = {
  housekeeping_enabled: flag(true, 'Repositories are packed after pushes', {
    sentWith: [
      'housekeeping_bitmaps_enabled',
      'housekeeping_full_repack_period',
      'housekeeping_gc_period',
      'housekeeping_incremental_repack_period',
    ],
  }),
  housekeeping_bitmaps_enabled: flag(true, 'Full packs have a bitmap, which makes clones fast'),
  housekeeping_incremental_repack_period: count(10, 'Pushes after which new objects are packed', {
    exclusiveMinimum: 0,
  }),
  housekeeping_full_repack_period: count(50, 'Pushes after which everything is packed anew', {
    rules: [notLessThan('housekeeping_incremental_repack_period')],
  }),
  housekeeping_gc_period: count(200, 'Pushes after which what nothing reaches is removed, too', {
    rules: [notLessThan('housekeeping_full_repack_period')],
  }),
}
