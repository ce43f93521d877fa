// Joins the modules of src/ into few files: `node bundle.js <folder>`. The launcher runs it when the sources have changed.
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/**
 * This time in ms after a bundle was replaced by another one no process is left that would load the rest of it. Its own age says nothing: a
 * service may have run from it for months.
 */
const keptMs = 24 * 3600 * 1000

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const dependencies = fileURLToPath(new URL('../node_modules/', import.meta.url))
const target = resolve(process.argv[2])
const building = `${target}.${process.pid}`

/** `new URL('./thread.ts', import.meta.url)`: a file that a thread or a process runs. */
const entry = /new URL\('(\.[^']*\.ts)', import\.meta\.url\)/g

/**
 * Packages that become part of the bundle, with all that they import: those of which each process loads some 400 small modules at its start.
 * Others stay where they are, because some find files of theirs by their own path.
 */
const bundled = ['fastify', 'graphile-worker', 'pg', 'pino', 'prom-client', 'typebox']
/** What these import and we never use. */
const unused = ['@fastify/ajv-compiler', 'ajv', 'ajv-formats', 'light-my-request', 'pg-native']

const packageOf = (id) => /^(@[^/]+\/)?[^/]+/.exec(id)[0]

const isExternal = (id, importer = '') =>
  !/^[./\0]/.test(id) &&
  !isBuiltin(id) &&
  !bundled.includes(packageOf(id)) &&
  (!importer.startsWith(dependencies) || unused.includes(packageOf(id)))

/** A UTF-16 unit as names, strings and regular expressions may write it. */
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const bundle = await rolldown({
  input: { main },
  platform: 'node',
  external: isExternal,
  treeshake: { propertyReadSideEffects: false },
  plugins: [
    {
      name: 'built-in modules',
      // To make an ES module of a built-in one, Node reads all its properties. Those of node:http load a client, WebSockets included:
      // a fifth of the start of a process, and 15 MB.
      resolveId: (id, _, { kind }) =>
        isBuiltin(id)
          ? `\0${kind === 'require-call' ? 'require:' : ''}${id.startsWith('node:') ? id : `node:${id}`}`
          : null,
      load(id) {
        const [, required, name] = /^\0(require:)?(node:.*)/.exec(id) ?? []
        if (name === undefined) return null
        if (required) return { code: `module.exports = process.getBuiltinModule('${name}')`, moduleType: 'js' }
        const names = Object.getOwnPropertyNames(process.getBuiltinModule(name)).filter((key) => key !== 'default')
        return [
          `const builtIn = process.getBuiltinModule('${name}')`,
          'export default builtIn',
          // Only those that are imported remain in the bundle.
          ...names.map((key) => `export const ${key} = builtIn.${key}`),
        ].join('\n')
      },
    },
    {
      name: 'escapes',
      // Node makes two bytes of each character of a file that has a single one beyond ASCII.
      generateBundle(_, files) {
        for (const file of Object.values(files))
          if (file.type === 'chunk') file.code = file.code.replace(/[^\x00-\x7f]/g, escaped)
      },
    },
    {
      name: 'urls of sources',
      transform(code, id) {
        if (id.startsWith('\0') || !code.includes('import.meta.url')) return null
        const withEntries = code.replace(entry, (_, path) => {
          const file = this.emitFile({ type: 'chunk', id: join(dirname(id), path) })
          return `new URL(import.meta.ROLLUP_FILE_URL_${file})`
        })
        // Other files, such as migrations, are read where they are. A path from here would lead elsewhere where node_modules is a link.
        const source = JSON.stringify(pathToFileURL(id).href)
        // No line moves, so that line numbers in stack traces stay right.
        return {
          code: withEntries.replaceAll('import.meta.url', source),
          map: null,
        }
      },
    },
  ],
  onLog(level, log) {
    if (level !== 'debug' && level !== 'info') throw new Error(log.message)
  },
})
await bundle.write({
  dir: building,
  format: 'esm',
  // V8 keeps the text in memory, comments included.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  entryFileNames: '[name].js',
  sourcemap: true,
  sourcemapExcludeSources: true,
})
await bundle.close()

try {
  renameSync(building, target)
} catch (error) {
  // Another start has finished the same bundle before.
  rmSync(building, { recursive: true, force: true })
  if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
}
const limit = Date.now() - keptMs
/** Newest first. */
const others = readdirSync(dirname(target))
  .map((name) => ({ path: join(dirname(target), name), isUnfinished: /\.\d+$/.test(name) }))
  .filter(({ path }) => path !== target)
  // When it was made, or used last. Another start may have removed it.
  .map((other) => ({ ...other, usedAt: statSync(other.path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
  .sort((one, other) => other.usedAt - one.usedAt)
let replacedAt = Date.now()
for (const { path, isUnfinished, usedAt } of others) {
  if ((isUnfinished ? usedAt : replacedAt) < limit) rmSync(path, { recursive: true, force: true })
  if (!isUnfinished) replacedAt = usedAt
}
