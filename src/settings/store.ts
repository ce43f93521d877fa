import type { Db, Tx } from '../db/db.ts'
import { type Notifications, notify } from '../db/notifications.ts'
import { json } from '../db/row.ts'
import { sql } from '../db/sql.ts'
import type { Plan } from '../kernel/plan.ts'
import { offeredIn, type Settings, withDefaults } from './settings.ts'

export type SettingsReader = {
  get(): Promise<Settings>
  /** As they were last read; the defaults before that. */
  readonly latest: Settings
}

/** However a notification may be lost, no process keeps a value longer than this. */
const maximumAgeMs = 900

/** The settings, read at most once in `maximumAgeMs` and again at once when somebody changes them. */
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

/** Changes some settings; every process knows within a second. */
export async function saveSettings(tx: Tx, values: Partial<Settings>): Promise<void> {
  await tx.run(
    sql`update application_settings set values = values || ${JSON.stringify(values)}::jsonb, updated_at = now()`,
  )
  await notify(tx, 'settings')
}
