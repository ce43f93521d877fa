import { type App, createApp } from '../app.ts'
import type { Config } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import type { Services } from '../processes/app-module.ts'
import { requireKeys, requireSchema } from './preconditions.ts'

/** Opens the application for a command. Fails with one sentence unless it can use the database. */
export async function openApp(config: Config, services: Services): Promise<App> {
  await requireSchema(services.databaseUrl)
  {
    await using db = openDatabase(services.databaseUrl, { readers: 1, writers: 1 })
    await requireKeys(config, db)
  }
  return await createApp(config, services)
}
