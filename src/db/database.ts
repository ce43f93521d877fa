import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { SharedSlots, sumOfLoads } from '../kernel/shares.ts'
import { openCheck } from './checks.ts'
import { answerMs } from './connection.ts'
import { connectionLimits } from './connection-limits.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Database, Statement, Tx } from './db.ts'
import { preparedBytesOfWriters } from './prepared-statements.ts'
import { Reader } from './reader.ts'
import { SnapshotCache } from './snapshot-cache.ts'
import { knownText } from './statement.ts'
import { over, Transaction } from './transaction.ts'
import { asContended, isContended, isRetryable } from './violations.ts'

export type DatabaseOptions = {
  /** Pipelined connections for single statements that are none of the following. */
  readers?: number
  /** … for those by key. */
  keyReaders?: number
  /** … for those of pages. */
  pageReaders?: number
  /** Maximum connections for transactions. */
  writers?: number
  /** … for single statements that may wait for locks. */
  singleWriters?: number
  /** Milliseconds without any response after which a connection is closed. */
  answerTimeoutMs?: number
  /** Maximum memory of the server for the prepared statements of one connection. */
  preparedBytes?: number
  /** Maximum bytes of cached rows. */
  cacheBytes?: number
  /** Milliseconds after which a reading connection that was not used is closed, except one. */
  readerIdleMs?: number
}

const attempts = 4
/** Longest pause before the second attempt. */
const maxPauseMs = 50

/**
 * Single statements in flight. A caller has at most a third of them, and others wait for those of the same connection, which may take half a
 * second each.
 */
const maxSent = 40

/** Maximum transactions that wait for a connection, and reads that wait for a slot, of all callers together. */
const maxWaiting = 1_000

/** Runs `work` again while it fails because of other transactions, up to four times. */
async function repeated<T>(mayPass: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!mayPass(error)) throw error
      if (attempt === attempts) throw asContended(error)
      // Transactions that met in a deadlock would meet again.
      await sleep(Math.random() * attempt * maxPauseMs)
    }
  }
}

/**
 * Opens the connections on first use. Statements outside a transaction go through the pipelined readers, of which each kind has its own: results come
 * in order, so a token would be looked up after a list. One that may wait for a lock has a connection of its own while it runs.
 */
export function openDatabase(
  url: string,
  {
    readers = connectionLimits.readers,
    keyReaders = connectionLimits.keyReaders,
    pageReaders = connectionLimits.pageReaders,
    writers = connectionLimits.writers,
    singleWriters = connectionLimits.singleWriters,
    answerTimeoutMs = answerMs,
    preparedBytes,
    cacheBytes,
    readerIdleMs,
  }: DatabaseOptions = {},
): Database {
  const check = openCheck(url)
  const limits = { answerTimeoutMs, preparedBytes }
  const writerLimits = { answerTimeoutMs, preparedBytes: preparedBytes ?? preparedBytesOfWriters }
  const pipelines = {
    key: new Reader(
      url,
      { connections: keyReaders, planning: 'force_generic_plan', keepsOne: true },
      limits,
      readerIdleMs,
    ),
    page: new Reader(url, { connections: pageReaders, planning: 'force_generic_plan' }, limits, readerIdleMs),
    other: new Reader(url, { connections: readers, planning: 'auto' }, limits, readerIdleMs),
  }
  const transactions = new ConnectionPool(url, writers, writerLimits)
  const singles = new ConnectionPool(url, singleWriters, writerLimits)
  const reads = new SharedSlots('the database', { slots: maxSent, maxWaiting })
  const shares = new SharedSlots('the database', { slots: writers, maxWaiting })
  const singleShares = new SharedSlots('the database', { slots: singleWriters, maxWaiting })
  const withinTransaction = new AsyncLocalStorage<true>()
  /** A transaction, or a single statement, inside another would wait for the slot that its own caller occupies. */
  const sharerOf = (caller: string) => (withinTransaction.getStore() ? '' : caller)

  /** The share key of the caller for whom a statement is run outside a transaction. */
  const sharer = new AsyncLocalStorage<string>()
  const read = (statement: Statement) => pipelines[statement.onePlan ?? 'other'].query(statement, sharer.getStore())
  const readInShare = <T>(caller: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
    reads.run(caller, () => sharer.run(caller, work), signal)
  /** Runs a statement outside a transaction, in the caller's share. */
  async function single(statement: Statement, caller = '', signal?: AbortSignal): Promise<pg.QueryResult> {
    if (!knownText(statement.text).mayWait)
      return caller === '' ? read(statement) : readInShare(caller, () => read(statement), signal)
    return repeated(isContended, () =>
      singleShares.run(sharerOf(caller), () => singles.use((line) => line.query(statement)), signal),
    )
  }

  const direct = over((statement) => single(statement), check)
  // It asks what has changed by key.
  const source = {
    query: read,
    get sent() {
      return pipelines.key.sent
    },
  }
  const snapshotCache = new SnapshotCache(source, check, cacheBytes)

  /** Runs `work` when the caller's share of the connections has room. The service's own work is limited only by the pool. */
  const inShare = <T>(caller: string, work: () => Promise<T>): Promise<T> =>
    shares.run(sharerOf(caller), () => withinTransaction.run(true, work))

  /** Resolves when the work is committed, with the work registered for after the commit, which needs no connection. */
  async function once<T>(work: (tx: Tx) => Promise<T>): Promise<{ result: T; conclude: () => Promise<void> }> {
    const { transaction, result } = await transactions.use(async (line, close) => {
      const transaction = new Transaction(line, check)
      try {
        const result = await work(transaction.tx)
        await transaction.commit()
        return { transaction, result }
      } catch (error) {
        await transaction.rollback().catch(close)
        throw error
      }
    })
    snapshotCache.invalidate()
    return { result, conclude: () => transaction.conclude() }
  }

  const committed = <T>(caller: string, work: (tx: Tx) => Promise<T>) =>
    repeated(isRetryable, () => inShare(caller, () => once(work)))

  return {
    ...direct,
    snapshotCache,
    for(caller, { signal, snapshot } = {}) {
      if (caller === '') return { ...direct, snapshotCache }
      const cached = <T>(read: () => Promise<T>) => readInShare(caller, read, signal)
      const query = async (statement: Statement) => {
        try {
          return await single(statement, caller, signal)
        } finally {
          snapshot?.forget()
        }
      }
      return {
        ...over(query, check),
        snapshotCache: {
          rows: (shape, statement, holdersOf) =>
            cached(() => snapshotCache.rows(shape, statement, holdersOf, snapshot)),
          row: (shape, statement, holdersOf) => cached(() => snapshotCache.row(shape, statement, holdersOf, snapshot)),
          byId: (shape, ids, statementOf, holdersOf) =>
            cached(() => snapshotCache.byId(shape, ids, statementOf, holdersOf, snapshot)),
          expects: (shape, statement) => snapshotCache.expects(shape, statement),
        },
      }
    },
    async transaction(work, caller = '') {
      const { result, conclude } = await committed(caller, work)
      // What fails now is not repeated: the changes are committed.
      await conclude()
      return result
    },
    loads: () => ({
      readers: sumOfLoads(Object.values(pipelines).map(({ load }) => load)),
      writers: shares.load,
      single_writers: singleShares.load,
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([
        ...Object.values(pipelines).map((line) => line[Symbol.asyncDispose]()),
        transactions[Symbol.asyncDispose](),
        singles[Symbol.asyncDispose](),
        check?.[Symbol.asyncDispose](),
      ])
    },
  }
}
