#!/usr/bin/env node
// Starts src/main.ts, or the bundle of it, with the Node that Stithy is tested with. Plain JavaScript for any Node >= 20, which is
// what npm may run on.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  utimesSync,
} from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The oldest Node that can parse the source. It is used only where no packaged Node is installed. */
const oldestMajor = 24

/** Why Stithy cannot start, as one sentence for the operator. */
class Refusal extends Error {}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sources = join(root, 'src')
const bundler = join(root, 'bin', 'bundle.js')
const dependencies = join(root, 'node_modules')
const compileCache = join(dependencies, '.cache', 'stithy')
const bundles = join(dependencies, '.cache', 'stithy-bundles')
/** Time after which a start goes on without a bundle, in ms. */
const bundleWithinMs = 60_000

try {
  const node = findNode()
  const main = entryPoint(node)
  if (node === realpathSync(process.execPath)) {
    process.argv[1] = main
    // The primary then strips no types, which saves it 100 ms and 25 MB. A folder we cannot write to changes nothing.
    nodeModule.enableCompileCache(compileCache)
    await import(pathToFileURL(main).href)
  } else {
    run(node, main)
  }
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  fail(error.message)
}

/**
 * The path of the Node to run: the optional package for this platform, by its exact name and version; without the
 * package, the running Node. Throws a Refusal if neither can run Stithy.
 */
function findNode() {
  if (isMusl()) {
    throw new Refusal(
      'Stithy needs a system with glibc, such as Debian, Ubuntu or Fedora, and this one has musl (Alpine Linux, for example).',
    )
  }
  const { optionalDependencies = {} } = readJson(join(root, 'package.json'))
  const suffix = `-${process.platform}-${process.arch}`
  for (const name of [`node${suffix}`, `node-bin${suffix}`]) {
    const expected = optionalDependencies[name]
    const folder = join(dependencies, name)
    if (expected === undefined || !existsSync(folder)) continue
    const binary = join(folder, 'bin', 'node')
    const { version } = readJson(join(folder, 'package.json'))
    if (version === expected && existsSync(binary)) return realpathSync(binary)
    throw new Refusal(`Stithy needs ${name} ${expected}, and ${folder} has ${version ?? 'something else'}: run npm ci.`)
  }
  const running = process.versions.node
  if (Number.parseInt(running, 10) >= oldestMajor) {
    requirePackages()
    return realpathSync(process.execPath)
  }
  throw new Refusal(
    `Stithy needs Node ${oldestMajor} or newer and this is ${running}: install a newer one, or run npm ci without --omit=optional.`,
  )
}

/** Throws a Refusal where `npm ci` has not run: here, or where this package is installed with others. */
function requirePackages() {
  const { dependencies: required = {} } = readJson(join(root, 'package.json'))
  const { resolve } = nodeModule.createRequire(join(root, 'package.json'))
  const isMissing = (name) => !resolve.paths(name)?.some((folder) => existsSync(join(folder, name)))
  if (Object.keys(required).some(isMissing))
    throw new Refusal(`The packages that Stithy needs are not installed: run npm ci in ${root}.`)
}

/** Whether the running Node is linked to musl: the start of an ELF file names the dynamic loader. */
function isMusl() {
  if (process.platform !== 'linux') return false
  const start = Buffer.alloc(4096)
  const file = openSync(process.execPath, 'r')
  readSync(file, start)
  closeSync(file)
  return start.includes('/ld-musl-')
}

/** The content of a JSON file; an empty object if the file is missing or not JSON. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return {}
  }
}

/**
 * The file to run: the bundle of the sources as they are now, which loads three times as fast. It is made where it is missing,
 * provided that the bundler is installed and this user may write there; else the sources run themselves.
 */
function entryPoint(node) {
  const source = join(sources, 'main.ts')
  if (!existsSync(bundler)) return source
  const folder = join(bundles, stateOf([sources, bundler]))
  const bundle = join(folder, 'main.js')
  if (!existsSync(bundle)) {
    if (!existsSync(join(dependencies, 'rolldown')) || !isWritable(bundles)) return source
    const { stderr } = spawnSync(node, [bundler, folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: bundleWithinMs,
    })
    const library = /error while loading shared libraries: ([^\s:]+)/.exec(stderr)?.[1]
    if (library !== undefined)
      throw new Refusal(`Stithy needs the library ${library}, which this system lacks: install ${packageOf(library)}.`)
  }
  if (!existsSync(bundle)) return source
  // The one that was used last is not removed (bundle.js). A folder we cannot write to changes nothing.
  try {
    utimesSync(folder, new Date(), new Date())
  } catch {}
  return bundle
}

/** Whether this user may write into a folder, which is made if it is missing. */
function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** What to install for a library. Slim images of Debian and Ubuntu lack libatomic. */
function packageOf(library) {
  return library === 'libatomic.so.1' ? 'the package libatomic1 (Debian, Ubuntu) or libatomic (Fedora)' : 'it'
}

/** A digest of the names, sizes and times of these files, and of the files in these folders. */
function stateOf(paths) {
  const hash = createHash('sha256')
  const add = (path, kind) => {
    if (kind.isDirectory()) {
      const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
      for (const entry of entries) add(join(path, entry.name), entry)
    } else if (!path.endsWith('.test.ts')) {
      const { size, mtimeMs } = statSync(path)
      hash.update(`${path} ${size} ${mtimeMs}\n`)
    }
  }
  for (const path of paths) add(path, statSync(path))
  return hash.digest('hex').slice(0, 32)
}

/** Replaces this process by one that runs the file, where this Node can; else runs it as a child. */
function run(binary, main) {
  const words = [main, ...process.argv.slice(2)]
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache }
  const cannot = ({ message }) => `Stithy cannot run ${binary}: ${message}.`
  if (process.execve) {
    // If it fails, Node would print its warning about an experimental feature below our sentence.
    process.removeAllListeners('warning')
    try {
      process.execve(binary, [binary, ...words], env)
    } catch (error) {
      throw new Refusal(cannot(error))
    }
  }
  // Before the child exists: a signal that arrives later than the child must not end us without it.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // The channel tells the service when we are killed; it then stops.
  const child = spawn(binary, words, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  child.on('error', (error) => fail(cannot(error)))
  child.on('exit', (code, signal) => {
    // Exits with the child's signal, so that a shell sees the same result.
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function fail(message) {
  console.error(message)
  process.exitCode = 1
}
