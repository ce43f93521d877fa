import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectionsOf } from '../connection-limits.ts'
import type { Layout } from './layout.ts'
import { clientNames, giveTo, type Owner } from './owner.ts'

/** `none` may lose everything when the machine stops: for tests. */
export type Durability = 'durable' | 'none'

/** The only role and database of an embedded PostgreSQL. */
export const roleName = 'stithy'
export const databaseName = 'stithy'

/** Written at each start, so that a new version applies its settings; those of the operator are in `local.conf`. */
export function writeSettings(layout: Layout, owner: Owner, durability: Durability, workers: number): void {
  const files = {
    'postgresql.conf': serverSettings(durability, workers),
    // Not `trust`: the socket folder is private, but a service started as root runs the server as `nobody`, a user that other
    // programs may use as well. The kernel reports the user of a connection, so no password is needed.
    'pg_hba.conf': `local all ${roleName} peer map=stithy\n`,
    'pg_ident.conf': clientNames()
      .map((name) => `stithy "${name}" ${roleName}\n`)
      .join(''),
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(layout.cluster, name)
    writeFileSync(path, text, { mode: 0o600 })
    giveTo(owner, path)
  }
}

const serverSettings = (
  durability: Durability,
  workers: number,
): string => `# Written by Stithy at each start. Your own settings: local.conf

listen_addresses = ''
unix_socket_directories = '../socket'
unix_socket_permissions = 0700
# And some for a backup, and for commands.
max_connections = ${Math.max(250, connectionsOf(workers) + 30)}

# A small machine, shared with the rest of the service.
shared_buffers = '128MB'
work_mem = '8MB'
maintenance_work_mem = '64MB'
effective_cache_size = '1GB'
max_parallel_workers_per_gather = 0
random_page_cost = 1.1
jit = off
# Three processes less, and our reads are small.
io_method = sync
max_logical_replication_workers = 0

${
  durability === 'durable'
    ? `fsync = on
synchronous_commit = on
full_page_writes = on
# This build compresses only with pglz: of a write that touches many indexes, that took three quarters of the time for half of the log.
wal_compression = off`
    : `fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
# Each test worker has several applications with their own connections.
max_connections = 300`
}

autovacuum = on
timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, ymd'
default_text_search_config = 'pg_catalog.english'
lc_messages = 'C'

log_line_prefix = '%m [%p] '
log_checkpoints = off

include_if_exists = 'local.conf'
`
