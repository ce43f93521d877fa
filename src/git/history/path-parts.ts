import type { ChangedFile } from './changes.ts'

/** Minimum number of files; fewer do not justify another process. */
const fewestFiles = 100
/** Maximum paths on a command line. */
const mostPaths = 500

/**
 * Splits the changed files into `count` consecutive groups of paths, in git's order and of similar size. Empty if the
 * difference cannot be split: it is small, contains renames, or has a path that is not text.
 */
export function partsOf(files: readonly ChangedFile[], count: number): string[][] {
  if (files.length < fewestFiles || files.some(({ status }) => status === 'renamed')) return []
  for (let depth = 1; depth <= 5; depth++) {
    const sizes = sizesAt(files, depth)
    if (!sizes || sizes.size > mostPaths) return []
    if (sizes.size >= 4 * count) return split(sizes, files.length, count)
  }
  return []
}

/**
 * Number of files at each path of `depth` segments; `undefined` if a path occurs again after another one, as with a file that
 * became a directory.
 */
function sizesAt(files: readonly ChangedFile[], depth: number): Map<string, number> | undefined {
  const sizes = new Map<string, number>()
  let last: string | undefined
  for (const { newPath } of files) {
    const path = newPath.split('/', depth).join('/')
    if (!path.isWellFormed() || (path !== last && sizes.has(path))) return undefined
    sizes.set(path, (sizes.get(path) ?? 0) + 1)
    last = path
  }
  return sizes
}

function split(sizes: ReadonlyMap<string, number>, total: number, count: number): string[][] {
  const parts: string[][] = [[]]
  let size = 0
  for (const [path, files] of sizes) {
    if (size >= (total / count) * parts.length) parts.push([])
    parts.at(-1)!.push(path)
    size += files
  }
  return parts
}
