import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'

/** One file of ours, as far as boundaries go. */
export type Module = {
  /** From the root of the project, with slashes: `src/git/refs.ts`. */
  readonly path: string
  /** What it imports: files of ours by path, everything else as it is written (`node:fs`, `fastify`). */
  readonly imports: readonly string[]
  /** The code without comments. */
  readonly code: string
}

/**
 * Reads the TypeScript files below a folder. Types that are imported count like everything else: what a layer must not
 * know it must not know by name. Not dependency-cruiser, because that cannot read TypeScript 7 yet and then passes
 * with a warning, having seen nothing.
 */
export async function readModules(root: string, folder: string): Promise<Module[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(
    files
      .sort()
      .map(async (file) => moduleOf(file.slice(root.length + 1).replaceAll('\\', '/'), await readFile(file, 'utf8'))),
  )
}

export function moduleOf(path: string, source: string): Module {
  const code = withoutComments(source)
  const imports = new Set(specifiers(code).map((specifier) => resolved(path, specifier)))
  return { path, imports: [...imports], code }
}

const resolved = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier

/**
 * Every spelling of an import: `import … from`, `export … from`, `import 'x'`, `import('x')` of values and of types,
 * `require('x')`. Between the word and `from` there is never a quote.
 */
const spellings = [
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g,
]

const specifiers = (code: string): string[] =>
  spellings.flatMap((spelling) => [...code.matchAll(spelling)].map((match) => match[1]!))

/** Strings and templates are skipped as wholes, so that `//` in an address is no comment. */
const strings = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g

const withoutComments = (source: string): string =>
  source.replace(strings, (found) => (found.startsWith('/') ? ' ' : found))
