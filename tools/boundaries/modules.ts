import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'

/** A source file with its imports. */
export type Module = {
  /** Relative to the project root, with slashes: `src/git/refs.ts`. */
  readonly path: string
  /** Its imports: source files by path, everything else as written (`node:fs`, `fastify`). */
  readonly imports: readonly string[]
  /** The code without comments. */
  readonly code: string
}

/**
 * Reads the TypeScript files below a folder. Type imports count like others: a layer must not depend on a name it must not
 * know. Not dependency-cruiser, which cannot parse TypeScript 7 yet and then passes with a warning, without any check.
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
 * Every form of import: `import … from`, `export … from`, `import 'x'`, `import('x')` of values and types, `require('x')`.
 * There is never a quote between the keyword and `from`.
 */
const spellings = [
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g,
]

const specifiers = (code: string): string[] =>
  spellings.flatMap((spelling) => [...code.matchAll(spelling)].map((match) => match[1]!))

/** Matches strings and templates as a whole, so that `//` in a URL is not a comment. */
const strings = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g

const withoutComments = (source: string): string =>
  source.replace(strings, (found) => (found.startsWith('/') ? ' ' : found))
