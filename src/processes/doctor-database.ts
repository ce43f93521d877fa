import { join } from 'node:path'
import type { Config } from '../config.ts'
import { connectionsOf } from '../db/connection-limits.ts'
import { hasCluster } from '../db/embedded/start.ts'
import { oldestServer } from '../db/oldest-server.ts'
import { type AppModule, type DatabaseFacts, loadAppModule } from './app-module.ts'
import { type Finding, findings } from './doctor-finding.ts'
import { explain } from './explain.ts'
import type { Parts } from './parts.ts'
import type { Terminal } from './terminal.ts'
import { withDatabase } from './with-services.ts'

const database = findings('Database')
const clock = findings('Clock')
const secrets = findings('Secrets')

/** Differences between the clocks in ms: one that shows in lists, and one that breaks codes and the expiry of tokens. */
const noticeableMs = 2_000
const harmfulMs = 30_000

/**
 * Whether the database responds, fits this version and this data folder, and has our time. Starts an embedded PostgreSQL that is
 * stopped; creates none.
 */
export async function checkDatabase(config: Config, parts: Parts, terminal: Terminal): Promise<Finding[]> {
  const embedded = config.database.kind === 'embedded'
  if (embedded && !hasCluster(config.dataDir)) return [database.ok('comes with Stithy, and the first start creates it')]
  const app = await loadAppModule(parts.appModule)
  try {
    return await withDatabase(config, terminal, (url) => inspect(app, config, url))
  } catch (error) {
    const advice = embedded
      ? `Read the last lines of ${join(config.dataDir, 'postgres', 'log')}.`
      : 'Check STITHY_DATABASE_URL, that PostgreSQL runs, and that it accepts connections from this machine.'
    return [database.failed(explain(error).sentence.replace(/\.$/, ''), advice)]
  }
}

async function inspect(app: AppModule, config: Config, url: string): Promise<Finding[]> {
  const facts = await app.inspectDatabase(url)
  const found = assessDatabase(facts, connectionsOf(config.processes))
  try {
    await app.requireOwn(config, url)
    return [...found, ...assessSecrets(await app.findUnreadable(config, url))]
  } catch (error) {
    return [...found, database.failed(explain(error).sentence.replace(/\.$/, ''), 'See docs/backup.md.')]
  }
}

const assessSecrets = (unreadable: readonly string[]): Finding[] =>
  unreadable.length === 0
    ? []
    : [
        secrets.failed(
          `no key in secrets.keys decrypts values of ${unreadable.join(', ')}`,
          'Restore the secrets.keys that belongs to the database. A line of another file may be added below those that are there.',
        ),
      ]

/** Findings about a database that responds, to which the service opens at most `connections` connections. */
function assessDatabase(
  { version, versionNumber, encoding, clockAheadMs, maxConnections }: DatabaseFacts,
  connections: number,
): Finding[] {
  const seconds = `${Math.abs(clockAheadMs / 1000).toFixed(1)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine`
  const advice = 'Synchronise the clocks of both machines, for example with chrony or systemd-timesyncd.'
  const difference = Math.abs(clockAheadMs)
  return [
    versionNumber < oldestServer.versionNumber
      ? database.failed(`PostgreSQL ${version}`, `Upgrade to PostgreSQL ${oldestServer.major} or newer.`)
      : encoding === 'UTF8'
        ? database.ok(`PostgreSQL ${version}`)
        : database.failed(
            `has the encoding ${encoding}`,
            "Create it with: create database stithy encoding 'UTF8' template template0",
          ),
    ...(maxConnections < connections
      ? [
          database.warning(
            `accepts ${maxConnections} connections, and Stithy opens up to ${connections}`,
            'Raise max_connections of PostgreSQL, or lower STITHY_PROCESSES. See docs/operators/sizing.md.',
          ),
        ]
      : []),
    difference < noticeableMs
      ? clock.ok('agrees with the database')
      : difference < harmfulMs
        ? clock.warning(`the database is ${seconds}`, advice)
        : clock.failed(`the database is ${seconds}`, advice),
  ]
}
