import pg from 'pg'
import { connectionOptions } from './connection.ts'
import type { Database, Db, Statement, Tx } from './db.ts'
import { KeptRows } from './kept-rows.ts'
import { answered } from './lost.ts'
import { Reader } from './reader.ts'
import { prepared } from './statement.ts'
import { isRetryable } from './violations.ts'

export type DatabaseOptions = {
  /** Pipelined connections for single statements. */
  readers?: number
  /** Connections for transactions, at most. */
  writers?: number
}

const attempts = 4

const over = (query: (statement: Statement) => Promise<pg.QueryResult>): Omit<Db, 'kept'> => ({
  rows: async <Row>(statement: Statement) => (await query(statement)).rows as Row[],
  row: async <Row>(statement: Statement) => (await query(statement)).rows[0] as Row | undefined,
  run: async (statement) => (await query(statement)).rowCount ?? 0,
})

/** A transaction keeps nothing. */
function transactionOver(client: pg.PoolClient): Tx {
  const db = over((statement) => answered(client.query(prepared(statement))))
  return { ...db, kept: { row: db.row, rows: db.rows, expects: () => false } } as unknown as Tx
}

/** Opens the connections on first use. Statements outside a transaction go through the pipelined readers. */
export function openDatabase(url: string, { readers = 3, writers = 10 }: DatabaseOptions = {}): Database {
  const reader = new Reader(url, readers)
  const pool = new pg.Pool({ ...connectionOptions(url, 'writer'), max: writers, idleTimeoutMillis: 30_000 })
  // A connection that breaks leaves the pool, or fails the statement it is used for; without listeners, for idle ones and
  // for those in use, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  async function once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await answered(pool.connect())
    let broken = false
    try {
      await answered(client.query('begin'))
      const result = await work(transactionOver(client))
      await answered(client.query('commit'))
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {
        broken = true
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  const reading = over((statement) => reader.query(statement))
  return {
    ...reading,
    kept: new KeptRows({
      rows: reading.rows,
      get sent() {
        return reader.sent
      },
    }),
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(work)
        } catch (error) {
          if (attempt === attempts || !isRetryable(error)) throw error
        }
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([reader[Symbol.asyncDispose](), pool.end()])
    },
  }
}
