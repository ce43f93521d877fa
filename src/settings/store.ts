import type { Db, Tx } from '../db/db.ts'
import { type Notifications, notify } from '../db/notifications.ts'
import { json } from '../db/row.ts'
import { sql } from '../db/sql.ts'
import type { Plan } from '../kernel/plan.ts'
import { offeredIn, type Settings, withDefaults } from './settings.ts'

export type SettingsReader = {
  get(): Promise<Settings>
  /** The last known settings; the defaults before the first read. */
  readonly latest: Settings
}

/** Maximum age of the cache, in case a notification is lost. */
const maximumAgeMs = 900

/** Caches the settings for `maximumAgeMs`; reads them again at once after a change. */
export class SettingsStore implements SettingsReader {
  readonly #db: Db
  readonly #plan: Plan
  #cached: Promise<Settings> | undefined
  #latest = withDefaults({})
  #readAt = 0

  constructor(db: Db, notifications: Notifications, plan: Plan) {
    this.#db = db
    this.#plan = plan
    notifications.onChange((topic) => {
      if (topic === undefined || topic === 'settings') this.#cached = undefined
    })
  }

  get latest(): Settings {
    return this.#latest
  }

  get(): Promise<Settings> {
    const now = performance.now()
    if (this.#cached && now - this.#readAt < maximumAgeMs) return this.#cached
    this.#readAt = now
    const read = this.#read()
    read.catch(() => {
      if (this.#cached === read) this.#cached = undefined
    })
    this.#cached = read
    return read
  }

  async #read(): Promise<Settings> {
    const row = await this.#db.row({ values: json<Partial<Settings>>() }, sql`select values from application_settings`)
    this.#latest = withDefaults(offeredIn(this.#plan, row?.values ?? {}))
    return this.#latest
  }
}

/** Changes settings; takes effect in every process within a second. */
export async function saveSettings(tx: Tx, values: Partial<Settings>): Promise<void> {
  await tx.run(
    sql`update application_settings set values = values || ${JSON.stringify(values)}::jsonb, updated_at = now()`,
  )
  await notify(tx, 'settings')
}
