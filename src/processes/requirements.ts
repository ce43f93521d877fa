import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { promisify } from 'node:util'
import type { Config } from '../config.ts'
import { Failure } from '../kernel/failure.ts'
import { cannotListen, systemReason } from './explain.ts'

/** The first version with `merge-tree --write-tree`. */
const oldestGit = [2, 38] as const
const databaseTimeoutMs = 10_000

export async function requireGit(command = 'git'): Promise<void> {
  const wanted = `Stithy needs git ${oldestGit.join('.')} or newer`
  const { stdout } = await promisify(execFile)(command, ['--version']).catch((cause: unknown) => {
    throw new Failure('unavailable', `${wanted}, and there is no git on the PATH.`, { cause })
  })
  const version = /\d+\.\d+\S*/.exec(stdout)?.[0] ?? '0.0'
  if (isOlder(version, oldestGit)) throw new Failure('unavailable', `${wanted}, and this is ${version}.`)
}

/** Checks the address before anything is started, for a fast and clear error. */
export async function requireFreeAddress(
  { host, port }: Config['http'],
  variable: 'STITHY_HTTP_PORT' | 'STITHY_SSH_PORT' = 'STITHY_HTTP_PORT',
): Promise<void> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (cause) {
    const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
    throw new Failure('unavailable', cannotListen(cause, where, variable), { cause })
  }
  server.close()
  await once(server, 'close')
}

/** Checks that a server listens at the URL; does not check user and password. */
export async function requireDatabase(url: string): Promise<void> {
  const { hostname, port, searchParams } = new URL(url.replace('@/', '@localhost/'))
  const host = searchParams.get('host') ?? decodeURIComponent(hostname) ?? 'localhost'
  const number = Number(searchParams.get('port') ?? (port || 5432))
  const path = host.startsWith('/') ? `${host}/.s.PGSQL.${number}` : undefined
  const where = path ?? `${host || 'localhost'}:${number}`
  const socket = path === undefined ? connect({ host: host || 'localhost', port: number }) : connect(path)
  socket.setTimeout(databaseTimeoutMs, () => socket.destroy(new Error(`no answer in ${databaseTimeoutMs / 1000} s`)))
  try {
    await once(socket, 'connect')
  } catch (cause) {
    throw new Failure(
      'unavailable',
      `Cannot reach the database at ${where} (STITHY_DATABASE_URL): ${systemReason(cause)}.`,
      { cause },
    )
  } finally {
    socket.destroy()
  }
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ours = 0, oursMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return ours < major || (ours === major && oursMinor < minor)
}
