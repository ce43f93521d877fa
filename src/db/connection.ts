import type pg from 'pg'
import { columnTypes } from './types.ts'

const seconds = 1000

/** Longer than any timeout of the server itself. */
export const answerMs = 45 * seconds

/** Maximum milliseconds of a statement where long ones are allowed (`Tx.allowLongStatements`): enough for a few million rows. */
export const longStatementMs = 15 * 60 * seconds

/** How prepared statements are planned: as the server decides, or once for all values. Source: PostgreSQL, `plan_cache_mode`. */
export type Planning = 'auto' | 'force_generic_plan'

/**
 * Kilobytes of new entries that an index of trigrams may have unsorted. Each search reads all of them: by default up to 4 MB, 5 to 10 ms, and
 * one write sorts them, 0.6 s.
 */
const unsortedEntries = 128

/**
 * Settings of every connection of the service. UTC, so that dates and timestamps need no conversion. `stithy.rules` says that services
 * apply the rules for which the previous release has triggers (docs/triggers.md).
 */
export const connectionOptions = (url: string, name: string, planning: Planning = 'auto'): pg.ClientConfig => ({
  connectionString: url,
  application_name: `stithy ${name}`,
  types: columnTypes,
  options: `-c timezone=UTC -c jit=off -c stithy.rules=services -c plan_cache_mode=${planning} -c gin_pending_list_limit=${unsortedEntries}`,
  statement_timeout: 30 * seconds,
  lock_timeout: 15 * seconds,
  idle_in_transaction_session_timeout: 60 * seconds,
  connectionTimeoutMillis: 10 * seconds,
  keepAlive: true,
})
