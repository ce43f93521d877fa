import { compilePattern, matchesPath, type PathPattern } from './path-pattern.ts'

/** Beyond this nobody can mean it; what follows is left out. */
const maxLines = 10_000

type Line = { readonly pattern: PathPattern; readonly filter: string | undefined }

/** What the `.gitattributes` of the root says of filters. The last line that matches and speaks of them counts. */
export class FilterAttributes {
  readonly #lines: readonly Line[]

  constructor(text: string) {
    this.#lines = text
      .split('\n', maxLines)
      .flatMap((line) => parseLine(line) ?? [])
      .reverse()
  }

  /** The filter of a path: `lfs`; `undefined` when it has none. */
  filterOf(path: string): string | undefined {
    const segments = path.split('/')
    return this.#lines.find(({ pattern }) => matchesPath(pattern, segments))?.filter
  }
}

/** `*.bin filter=lfs -text`, the pattern in quotes when it holds blanks. Lines that say nothing of filters are left out. */
function parseLine(line: string): Line | undefined {
  const [, quoted, bare, rest] = /^\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)$/.exec(line) ?? []
  const path = quoted?.replace(/\\(["\\])/g, '$1') ?? bare
  // A macro, a comment, and what git does not allow.
  if (path === undefined || /^(\[attr\]|#|!)/.test(path)) return undefined
  const said = rest!.split(/\s+/).findLast((word) => /^[-!]?filter(=|$)/.test(word))
  if (said === undefined) return undefined
  const anchored = path.includes('/')
  // At the end it means what is inside, not the folder.
  const segments = path
    .replace(/^\//, '')
    .replace(/(^|\/)\*\*$/, '$1**/*')
    .split('/')
  return {
    pattern: compilePattern(anchored ? segments : ['**', ...segments], { classes: true }),
    filter: /^filter=(.+)$/.exec(said)?.[1],
  }
}
