import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { within } from '../kernel/late.ts'
import { newClient } from './client.ts'
import { connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import type { Tx } from './db.ts'
import { type Sql, sql } from './sql.ts'

/** Topics of notifications between processes. A notification is a hint: a process that misses one must still be correct soon. */
export type Topic = 'actors' | 'blobs' | 'hooks' | 'settings'

const channel = 'stithy'
const retryMs = 500

/** Time in which other listening processes usually receive a notification. */
const othersMs = 50
/** Maximum time to wait for a notification of one's own, unless said otherwise: whatever it concerns is read again after this time in any case. */
const usualOwnMs = 1_000
/** Own notifications that are remembered until they are asked for. */
const remembered = 1_000

/**
 * Notifies every process, when the transaction commits, that `topic` changed. The commit returns after a short delay, and not before this
 * process has received the notification itself, so that the next request to it sees the change, and one to another process most probably.
 */
export function notify(tx: Tx, topic: Topic): Promise<number> {
  const id = randomUUID()
  tx.afterCommit(async () => {
    await Promise.all([pause(othersMs), tx.notifications?.received(id)])
  })
  return tx.run(sql`select pg_notify(${channel}, ${`${topic} ${id}`})`)
}

/** For a statement that writes what another process handles soon: notifies when the transaction commits, without a delay. */
export const notifying = (topic: Topic): Sql => sql`pg_notify(${channel}, ${topic})`

/**
 * One connection that listens. Calls its listeners for each notification, and for every topic (`undefined`) when the connection is lost
 * or restored, since notifications may have been missed.
 */
export class Notifications implements AsyncDisposable {
  readonly #url: string
  readonly #ownMs: number
  readonly #listeners: ((topic: Topic | undefined) => void)[] = []
  readonly #received = new Set<string>()
  readonly #waiting = new Map<string, () => void>()
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #ended = false

  /** `ownMs` limits the time to wait for a notification of one's own. */
  constructor(url: string, ownMs = usualOwnMs) {
    this.#url = url
    this.#ownMs = ownMs
  }

  onChange(listener: (topic: Topic | undefined) => void): void {
    this.#listeners.push(listener)
  }

  async connect(): Promise<void> {
    const client = newClient(connectionOptions(this.#url, 'notifications'))
    this.#client = client
    client.on('notification', ({ payload = '' }) => {
      const [topic, id] = payload.split(' ') as [Topic, string?]
      this.#callListeners(topic)
      if (id !== undefined) this.#note(id)
    })
    client.once('end', () => this.#lost(client))
    try {
      await mapConnectionError(client.connect())
      await mapConnectionError(client.query(`listen ${channel}`))
    } catch (error) {
      // A standby connects, and refuses to listen: each attempt would leave a connection.
      if (this.#client === client) this.#client = undefined
      await client.end().catch(() => {})
      throw error
    }
    this.#callListeners(undefined)
  }

  /** Resolves when the notification with this id has been received, or after `ownMs`. */
  async received(id: string): Promise<void> {
    if (this.#received.has(id)) return
    const arrival = new Promise<void>((resolve) => this.#waiting.set(id, resolve))
    await within(this.#ownMs, arrival, () => {})
    this.#waiting.delete(id)
  }

  #note(id: string): void {
    this.#received.add(id)
    if (this.#received.size > remembered) this.#received.delete(this.#received.values().next().value!)
    this.#waiting.get(id)?.()
  }

  #callListeners(topic: Topic | undefined) {
    for (const listener of this.#listeners) listener(topic)
  }

  #lost(client: pg.Client) {
    if (this.#client !== client) return
    this.#client = undefined
    this.#callListeners(undefined)
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
