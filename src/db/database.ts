import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { SharedSlots, sumOfLoads } from '../kernel/shares.ts'
import { openCheck } from './checks.ts'
import { answerMs, connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import { connectionLimits } from './connection-limits.ts'
import type { Database, Statement, Tx } from './db.ts'
import { PipelinedConnection } from './pipelined-connection.ts'
import { preparedBytesOfWriters } from './prepared-statements.ts'
import { Reader } from './reader.ts'
import { SnapshotCache } from './snapshot-cache.ts'
import { over, Transaction } from './transaction.ts'
import { asContended, isRetryable } from './violations.ts'

export type DatabaseOptions = {
  /** Pipelined connections for single statements that are none of the following. */
  readers?: number
  /** … for those by key. */
  keyReaders?: number
  /** … for those of pages. */
  pageReaders?: number
  /** Maximum connections for transactions. */
  writers?: number
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

/** Time after which an unused connection for transactions is closed: each costs the server 5 to 20 MB. */
const writerIdleMs = 10_000

/**
 * Single statements in flight. A caller has at most a third of them, and others wait for those of the same connection, which may take half a
 * second each.
 */
const maxSent = 40

/** Maximum transactions that wait for a connection, and reads that wait for a slot, of all callers together. */
const maxWaiting = 1_000

/**
 * Opens the connections on first use. Statements outside a transaction go through the pipelined readers, of which each kind has its own: results come
 * in order, so a token would be looked up after a list.
 */
export function openDatabase(
  url: string,
  {
    readers = connectionLimits.readers,
    keyReaders = connectionLimits.keyReaders,
    pageReaders = connectionLimits.pageReaders,
    writers = connectionLimits.writers,
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
  const read = (statement: Statement) => pipelines[statement.onePlan ?? 'other'].query(statement)
  const pool = new pg.Pool({
    ...connectionOptions(url, 'writer'),
    ...{ pipeline: true },
    max: writers,
    idleTimeoutMillis: writerIdleMs,
  })
  const lines = new WeakMap<pg.ClientBase, PipelinedConnection>()
  // A connection that breaks leaves the pool, or fails the statement it is used for; without listeners, for idle ones and
  // for those in use, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    lines.set(client, new PipelinedConnection(client as unknown as pg.Client, writerLimits))
  })

  const reading = over(read, check)
  // It asks what has changed by key.
  const source = {
    query: read,
    get sent() {
      return pipelines.key.sent
    },
  }
  const snapshotCache = new SnapshotCache(source, check, cacheBytes)

  const reads = new SharedSlots('the database', { slots: maxSent, maxWaiting })
  const shares = new SharedSlots('the database', { slots: writers, maxWaiting })
  const withinTransaction = new AsyncLocalStorage<true>()

  /**
   * Runs `work` when the caller's share of the connections has room. The service's own work is limited only by the pool, and so is
   * a transaction inside another: it would wait for the slot that its own caller occupies.
   */
  const inShare = <T>(caller: string, work: () => Promise<T>): Promise<T> =>
    shares.run(withinTransaction.getStore() ? '' : caller, () => withinTransaction.run(true, work))

  /** Resolves when the work is committed, with the work registered for after the commit, which needs no connection. */
  async function once<T>(work: (tx: Tx) => Promise<T>): Promise<{ result: T; conclude: () => Promise<void> }> {
    const client = await mapConnectionError(pool.connect())
    let broken = false
    const transaction = new Transaction(lines.get(client)!, check)
    let result: T
    try {
      result = await work(transaction.tx)
      await transaction.commit()
    } catch (error) {
      await transaction.rollback().catch(() => {
        broken = true
      })
      throw error
    } finally {
      client.release(broken)
    }
    snapshotCache.invalidate()
    return { result, conclude: () => transaction.conclude() }
  }

  async function committed<T>(caller: string, work: (tx: Tx) => Promise<T>): ReturnType<typeof once<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inShare(caller, () => once(work))
      } catch (error) {
        if (!isRetryable(error)) throw error
        if (attempt === attempts) throw asContended(error)
        // Transactions that met in a deadlock would meet again.
        await sleep(Math.random() * attempt * maxPauseMs)
      }
    }
  }

  return {
    ...reading,
    snapshotCache,
    for(caller, { signal, snapshot } = {}) {
      if (caller === '') return { ...reading, snapshotCache }
      const cached = <T>(read: () => Promise<T>) => reads.run(caller, read, signal)
      const query = async (statement: Statement) => {
        try {
          return await reads.run(caller, () => read(statement), signal)
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
    loads: () => ({ readers: sumOfLoads(Object.values(pipelines).map(({ load }) => load)), writers: shares.load }),
    async [Symbol.asyncDispose]() {
      await Promise.all([
        ...Object.values(pipelines).map((line) => line[Symbol.asyncDispose]()),
        pool.end(),
        check?.[Symbol.asyncDispose](),
      ])
    },
  }
}
