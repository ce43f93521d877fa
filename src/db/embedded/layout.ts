import { join } from 'node:path'

/*
 * <dataDir>/postgres/            belongs to the user PostgreSQL runs as, 0700
 *   cluster/                     PGDATA
 *   cluster.new/                 a cluster being made; only a finished one gets the other name
 *   socket/                      the only way in: no TCP
 *   log/                         postgresql-Mon.log …, and start.log with what came before the logger
 *   lib/                         links that the package's install script would have made
 *   local.conf                   settings of a person, read last; never written by us
 */
export type Layout = Readonly<Record<'home' | 'cluster' | 'unfinished' | 'socket' | 'log' | 'lib', string>>

export function layoutOf(dataDir: string): Layout {
  const home = join(dataDir, 'postgres')
  return {
    home,
    cluster: join(home, 'cluster'),
    unfinished: join(home, 'cluster.new'),
    socket: join(home, 'socket'),
    log: join(home, 'log'),
    lib: join(home, 'lib'),
  }
}
