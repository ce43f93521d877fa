import { notLessThan } from './rules.ts'
import { count, flag } from './schema.ts'

/** Housekeeping of repositories. */
export const housekeeping = {
  housekeeping_enabled: flag(true, 'Run housekeeping after pushes', {
    sentWith: [
      'housekeeping_bitmaps_enabled',
      'housekeeping_full_repack_period',
      'housekeeping_gc_period',
      'housekeeping_incremental_repack_period',
    ],
  }),
  housekeeping_bitmaps_enabled: flag(true, 'Write bitmap indexes with full packs, which speeds up clones'),
  housekeeping_incremental_repack_period: count(10, 'Number of pushes between incremental repacks', {
    exclusiveMinimum: 0,
  }),
  housekeeping_full_repack_period: count(50, 'Number of pushes between full repacks', {
    rules: [notLessThan('housekeeping_incremental_repack_period')],
  }),
  housekeeping_gc_period: count(200, 'Number of pushes between garbage collections, which remove unreachable objects', {
    rules: [notLessThan('housekeeping_full_repack_period')],
  }),
}
