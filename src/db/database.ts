import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { SharedSlots } from '../kernel/shares.ts'
import { openCheck } from './checks.ts'
import { answerMs, connectionOptions } from './connection.ts'
import type { Database, Tx } from './db.ts'
import { KeptRows } from './kept-rows.ts'
import { Line } from './line.ts'
import { answered } from './lost.ts'
import { Reader } from './reader.ts'
import { over, Transaction } from './transaction.ts'
import { isRetryable } from './violations.ts'

export type DatabaseOptions = {
  /** Pipelined connections for single statements. */
  readers?: number
  /** Connections for transactions, at most. */
  writers?: number
  /** After how long without any answer a connection is given up. */
  patienceMs?: number
}

const attempts = 4

/** Statements that are sent and have no answer, for each pipelined connection. A caller has at most a third of them. */
const sentForEach = 32

/** Transactions that may wait for a connection, and reads that may wait for their turn, of all callers together. */
const maxWaiting = 1_000

/** Opens the connections on first use. Statements outside a transaction go through the pipelined readers. */
export function openDatabase(
  url: string,
  { readers = 3, writers = 10, patienceMs = answerMs }: DatabaseOptions = {},
): Database {
  const check = openCheck(url)
  const reader = new Reader(url, readers, patienceMs)
  const pool = new pg.Pool({
    ...connectionOptions(url, 'writer'),
    ...{ pipeline: true },
    max: writers,
    idleTimeoutMillis: 30_000,
  })
  const lines = new WeakMap<pg.ClientBase, Line>()
  // A connection that breaks leaves the pool, or fails the statement it is used for; without listeners, for idle ones and
  // for those in use, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    lines.set(client, new Line(client as unknown as pg.Client, patienceMs))
  })

  const reading = over((statement) => reader.query(statement), check)
  const kept = new KeptRows(reader, check)

  const reads = new SharedSlots('the database', { slots: readers * sentForEach, maxWaiting })
  const shares = new SharedSlots('the database', { slots: writers, maxWaiting })
  const withinTransaction = new AsyncLocalStorage<true>()

  /**
   * Runs `work` when the caller's share of the connections has room. The service's own work has no limit but the pool, nor
   * has a transaction inside another: it would wait for the slot that its own caller holds.
   */
  const inShare = <T>(caller: string, work: () => Promise<T>): Promise<T> =>
    shares.run(withinTransaction.getStore() ? '' : caller, () => withinTransaction.run(true, work))

  /** Resolves once the work is committed, with what remains to be done then, which needs no connection. */
  async function once<T>(work: (tx: Tx) => Promise<T>): Promise<{ result: T; conclude: () => Promise<void> }> {
    const client = await answered(pool.connect())
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
    kept.outdate()
    return { result, conclude: () => transaction.conclude() }
  }

  return {
    ...reading,
    kept,
    for(caller, signal) {
      if (caller === '') return { ...reading, kept }
      const cached = <T>(read: () => Promise<T>) => reads.run(caller, read, signal)
      return {
        ...over((statement) => reads.run(caller, () => reader.query(statement), signal), check),
        kept: {
          rows: (shape, statement) => cached(() => kept.rows(shape, statement)),
          row: (shape, statement) => cached(() => kept.row(shape, statement)),
          expects: (statement) => kept.expects(statement),
        },
      }
    },
    async transaction(work, caller = '') {
      for (let attempt = 1; ; attempt++) {
        try {
          const { result, conclude } = await inShare(caller, () => once(work))
          await conclude()
          return result
        } catch (error) {
          if (attempt === attempts || !isRetryable(error)) throw error
        }
      }
    },
    loads: () => ({ readers: reader.load, writers: shares.load }),
    async [Symbol.asyncDispose]() {
      await Promise.all([reader[Symbol.asyncDispose](), pool.end(), check?.[Symbol.asyncDispose]()])
    },
  }
}
