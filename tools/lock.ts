import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Regenerates package-lock.json from package.json: `npm run lock`, after a dependency was added, upgraded or removed. npm omits
 * optional packages that the registry does not have, such as a registry that mirrors only some platforms, and `npm ci` then
 * rejects the file. This adds them again, so that the same file installs everywhere.
 */

type Locked = {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
type Lock = { packages: Record<string, Locked> }

const root = fileURLToPath(new URL('..', import.meta.url))
const platforms = new Map(
  'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' ').map((os) => [os, os]),
).set('windows', 'win32')
const processors = new Set('arm arm64 ia32 loong64 mips64el ppc64 ppc64le riscv64 s390x wasm32 x64'.split(' '))

/** The path at which an import of `name` from the package at `from` is found, or would be installed. */
function placeOf(name: string, from: string, packages: Lock['packages']): string {
  for (let base = from; base !== ''; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    const place = `${base}/node_modules/${name}`
    if (place in packages) return place
  }
  return `node_modules/${name}`
}

/** The platform in the name of a package; undefined if it has none. */
function platformOf(name: string): Pick<Locked, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[-/_.@]/)
  const os = name === 'fsevents' ? 'darwin' : words.map((word) => platforms.get(word)).find(Boolean)
  const cpu = words.find((word) => processors.has(word))
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : words.includes('gnu') ? 'glibc' : undefined
  if (!os && !cpu) return
  return { ...(os && { os: [os] }), ...(cpu && { cpu: [cpu] }), ...(libc && { libc: [libc] }) }
}

function nameMissing({ packages }: Lock): number {
  let added = 0
  for (const [from, locked] of Object.entries(packages))
    for (const [name, range] of Object.entries(locked.optionalDependencies ?? {})) {
      const place = placeOf(name, from, packages)
      const platform = platformOf(name)
      if (place in packages || !platform) continue
      const version = range.replace(/^[~^]/, '')
      packages[place] = { version, ...(locked.dev && { dev: true }), optional: true, ...platform }
      added++
    }
  return added
}

const folder = mkdtempSync(join(tmpdir(), 'stithy-lock-'))
try {
  for (const file of ['package.json', '.npmrc']) cpSync(join(root, file), join(folder, file))
  execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock
  const added = nameMissing(lock)
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`package-lock.json names ${Object.keys(lock.packages).length - 1} packages, ${added} of them added here`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
