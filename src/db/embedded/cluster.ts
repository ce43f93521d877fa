import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { syncFolderNow } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { isThere } from '../../kernel/missing.ts'
import type { Binaries } from './binaries.ts'
import type { Layout } from './layout.ts'
import { killMakersOf, markOf } from './orphans.ts'
import { giveTo, type Owner } from './owner.ts'
import { type Durability, databaseName, roleName } from './settings.ts'

/**
 * The argument with which PostgreSQL finds its data. The user it runs as may not be able to traverse the path of the data folder
 * (under /root, for example), but a process can always access its working folder, and on Linux name it.
 */
export const clusterArgument = (owner: Owner, folder: string): string =>
  owner.drop && process.platform === 'linux' ? '/proc/self/cwd' : folder

export function makeFolders(layout: Layout, owner: Owner): void {
  for (const folder of [layout.home, layout.socket, layout.log]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    giveTo(owner, folder)
  }
}

/** Prefix of the name of an unfinished cluster; only a finished one is renamed. */
const unfinished = 'cluster.new-'

/** Creates the cluster if there is none; a killed attempt leaves nothing that looks finished. */
export async function ensureCluster(
  layout: Layout,
  owner: Owner,
  binaries: Binaries,
  durability: Durability,
  log: (line: string) => void,
): Promise<void> {
  const major = readMajor(layout)
  if (major === undefined) {
    log('Creating the database…')
    await createCluster(layout, owner, binaries, durability)
  } else if (major !== binaries.major) {
    throw new Failure(
      'unavailable',
      `The database in ${layout.cluster} was made by PostgreSQL ${major} and this Stithy comes with PostgreSQL ${binaries.major}: start the Stithy that made it, or make a backup with that one and restore it with this one (docs/operators/backup.md).`,
    )
  }
}

/** Major version of the cluster on disk; absent when there is none. */
function readMajor(layout: Layout): number | undefined {
  const file = join(layout.cluster, 'PG_VERSION')
  if (isThere(file)) return Number.parseInt(readFileSync(file, 'utf8'), 10)
  if (!isThere(layout.cluster)) return undefined
  throw new Failure(
    'unavailable',
    `The folder ${layout.cluster} is not a PostgreSQL database (it has no PG_VERSION): restore it from a backup, or move it away to start anew.`,
  )
}

/** Removes what killed starts left. Their initdb does not end with them, and would write while its files are being removed. */
export async function removeUnfinished({ home }: Layout): Promise<void> {
  const left = readdirSync(home).filter((name) => name.startsWith(unfinished))
  for (const folder of left.map((name) => join(home, name))) {
    await killMakersOf(folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function createCluster(layout: Layout, owner: Owner, binaries: Binaries, durability: Durability): Promise<void> {
  await removeUnfinished(layout)
  const folder = mkdtempSync(join(layout.home, unfinished))
  giveTo(owner, folder)
  const place = clusterArgument(owner, folder)
  const name = `cluster_name=${markOf(folder)}`
  const sync = durability === 'durable' ? [] : ['--no-sync']
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']

  const run = (program: string, args: string[], input = '') =>
    runToEnd(program, args, input, { cwd: folder, env: binaries.env, owner })
  await run(binaries.initdb, [
    '-D',
    place,
    '-U',
    roleName,
    '--auth=peer',
    '--no-instructions',
    '--set',
    name,
    ...locale,
    ...sync,
  ])
  const fast = durability === 'durable' ? [] : ['-F']
  await run(
    binaries.postgres,
    ['--single', ...fast, '-c', name, '-D', place, 'postgres'],
    `create database ${databaseName}\n`,
  )

  renameSync(folder, layout.cluster)
  if (durability === 'durable') syncFolderNow(layout.home)
}

async function runToEnd(
  program: string,
  args: string[],
  input: string,
  { cwd, env, owner }: { cwd: string; env: Record<string, string>; owner: Owner },
): Promise<void> {
  const user = owner.drop ? { uid: owner.uid, gid: owner.gid } : {}
  const child = spawn(program, args, { cwd, env, ...user, stdio: ['pipe', 'pipe', 'pipe'] })
  // A program that fails early does not read its input; its own error is more useful than the broken pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const [code, output, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  // Single-user PostgreSQL reports a failed statement and still exits with 0.
  if (code !== 0 || /\b(?:ERROR|FATAL|PANIC):/.test(stderr)) {
    throw new Failure('unavailable', `The database could not be created: ${lastErrorLine(stderr || output)}`)
  }
}

/** The most informative line of PostgreSQL's output, without its prefix. */
export function lastErrorLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const line = lines.findLast((text) => /(?:FATAL|PANIC|ERROR|error|could not)/.test(text)) ?? lines.at(-1)
  return line?.replace(/^.*?(?:FATAL|PANIC|ERROR|error):\s*/, '').trim() ?? 'it gave no reason'
}
