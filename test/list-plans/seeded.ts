import pg from 'pg'
import { seed } from '../../bench/seed.ts'
import type { Size } from '../../bench/sizes.ts'
import { World } from '../world.ts'
import { seedIssues } from './seed-issues.ts'

export const size: Size = { users: 1_000, projects: 20_000, groups: 600, mergeRequests: 10_000, issues: 0 }

export let world: World
/** A connection of its own: what a case sets or begins here concerns no statement of the service. */
export let client: pg.Client

export async function startSeeded(): Promise<void> {
  world = await World.start()
  await seed(world.databaseUrl, size)
  client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  await seedIssues(client)
}

export async function stopSeeded(): Promise<void> {
  await client.end()
  await world[Symbol.asyncDispose]()
}
