import { join } from 'node:path'

/*
 * <dataDir>/postgres/            belongs to the user PostgreSQL runs as, 0700
 *   cluster/                     PGDATA
 *   cluster.new-XXXXXX/          a cluster being made
 *   socket/                      the only way in: no TCP
 *   log/                         postgresql.log and the one before it
 *   lib/                         links that the package's install script would have made
 *   cluster/local.conf           settings of a person, read last; never written by us
 */
export type Layout = Readonly<Record<'home' | 'cluster' | 'socket' | 'log' | 'lib', string>>

export function layoutOf(dataDir: string): Layout {
  const home = join(dataDir, 'postgres')
  return {
    home,
    cluster: join(home, 'cluster'),
    socket: join(home, 'socket'),
    log: join(home, 'log'),
    lib: join(home, 'lib'),
  }
}
