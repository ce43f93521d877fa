import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import type { Tx } from './db.ts'
import { type Sql, sql } from './sql.ts'

/** Topics of notifications between processes. A notification is a hint: a process that misses one must still be correct soon. */
export type Topic = 'actors' | 'blobs' | 'hooks' | 'settings'

const channel = 'stithy'
const retryMs = 500

/** Time in which listening processes usually receive a notification. */
const hearingMs = 50
const untilHeard = (): Promise<void> => pause(hearingMs)

/**
 * Notifies every process, when the transaction commits, that `topic` changed. The commit returns after a short delay, so that
 * the next request to any process sees the change.
 */
export function notify(tx: Tx, topic: Topic): Promise<number> {
  tx.afterCommit(untilHeard)
  return tx.run(sql`select pg_notify(${channel}, ${topic})`)
}

/** For a statement that writes what another process handles soon: notifies when the transaction commits, without a delay. */
export const notifying = (topic: Topic): Sql => sql`pg_notify(${channel}, ${topic})`

/**
 * One connection that listens. Calls `hear` for each notification, and for every topic (`undefined`) when the connection is lost or
 * restored, since notifications may have been missed.
 */
export class Notifications implements AsyncDisposable {
  readonly #url: string
  readonly #listeners: ((topic: Topic | undefined) => void)[] = []
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #ended = false

  constructor(url: string) {
    this.#url = url
  }

  onChange(listener: (topic: Topic | undefined) => void): void {
    this.#listeners.push(listener)
  }

  async connect(): Promise<void> {
    const client = new pg.Client(connectionOptions(this.#url, 'notifications'))
    this.#client = client
    client.on('notification', ({ payload }) => this.#tell(payload as Topic))
    client.on('error', () => {})
    client.once('end', () => this.#lost(client))
    await mapConnectionError(client.connect())
    await mapConnectionError(client.query(`listen ${channel}`))
    this.#tell(undefined)
  }

  #tell(topic: Topic | undefined) {
    for (const listener of this.#listeners) listener(topic)
  }

  #lost(client: pg.Client) {
    if (this.#client !== client) return
    this.#client = undefined
    this.#tell(undefined)
    this.#retry()
  }

  #retry() {
    if (this.#ended) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.connect().catch(() => this.#retry()), retryMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }
}
