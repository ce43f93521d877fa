#!/usr/bin/env node
// Starts src/main.ts with a suitable Node. Plain JavaScript for Node 20 or newer, which npx may find.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const main = join(root, 'src', 'main.ts')
// The packages are in this folder, or beside it if Stithy itself is installed as a package.
const packages = [join(root, 'node_modules'), dirname(root)].filter(existsSync)
const compileCache = packages.length > 0 ? join(packages[0], '.cache', 'stithy') : undefined
const node = findNode()

if (node === undefined) {
  console.error(
    `Stithy needs Node 22.18 or newer and this is ${process.versions.node}: install a newer one, or run npm install where optional packages are allowed.`,
  )
  process.exitCode = 1
} else if (node === realpathSync(process.execPath)) {
  process.argv[1] = main
  // With the cache, the primary need not strip types, which saves 100 ms and 25 MB. No effect if the folder is not writable.
  nodeModule.enableCompileCache(compileCache)
  await import(pathToFileURL(main).href)
} else {
  run(node)
}

/**
 * The Node that is installed with Stithy as an optional package for this platform; otherwise the current one, if it is new
 * enough.
 */
function findNode() {
  const suffix = `-${process.platform}-${process.arch}`
  for (const folder of packages) {
    for (const name of readdirSync(folder)) {
      const binary = join(folder, name, 'bin', 'node')
      if (/^node(-bin)?-/.test(name) && name.endsWith(suffix) && existsSync(binary)) return realpathSync(binary)
    }
  }
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18) ? realpathSync(process.execPath) : undefined
}

/**
 * Runs main.ts and not this file: a binary with two names would otherwise launch itself forever. The channel lets the service
 * notice that this process was killed, and stop.
 */
function run(binary) {
  const child = spawn(binary, [main, ...process.argv.slice(2)], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`Stithy could not be started with ${binary}: ${error.message}.`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    // Exits with the child's signal, so that a shell sees the same result.
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
