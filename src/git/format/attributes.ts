import { compilePattern, matchesPath, type PathPattern } from './path-pattern.ts'

/** Beyond this nobody can mean it; what follows is left out. */
const maxLines = 10_000

/** `name`, `-name`, `!name` or `name=text`. */
type Value = string | boolean | undefined
type Line = { readonly pattern: PathPattern; readonly said: ReadonlyMap<string, Value> }

/** What the `.gitattributes` of the root says of some attributes. The last line that matches and speaks of one counts. */
export class PathAttributes {
  readonly #lines: readonly Line[]

  /** Lines that say nothing of attributes whose names pass `isWanted` are left out. */
  constructor(text: string, isWanted: (name: string) => boolean) {
    this.#lines = text
      .split('\n', maxLines)
      .flatMap((line) => parseLine(line, isWanted) ?? [])
      .reverse()
  }

  /** The value of an attribute of a path: its text, whether it is set, or `undefined` when nothing is said or all taken back. */
  valueOf(path: string, name: string): Value {
    const segments = path.split('/')
    return this.#lines.find(({ pattern, said }) => said.has(name) && matchesPath(pattern, segments))?.said.get(name)
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }
}

/** What the `.gitattributes` of the root says of filters. */
export class FilterAttributes {
  readonly #attributes: PathAttributes

  constructor(text: string) {
    this.#attributes = new PathAttributes(text, (name) => name === 'filter')
  }

  /** The filter of a path: `lfs`; `undefined` when it has none. */
  filterOf(path: string): string | undefined {
    const value = this.#attributes.valueOf(path, 'filter')
    return typeof value === 'string' ? value : undefined
  }
}

/** `*.bin filter=lfs -text`, the pattern in quotes when it holds blanks. */
function parseLine(line: string, isWanted: (name: string) => boolean): Line | undefined {
  const [, quoted, bare, rest] = /^\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)$/.exec(line) ?? []
  const path = quoted?.replace(/\\(["\\])/g, '$1') ?? bare
  // A macro, a comment, and what git does not allow.
  if (path === undefined || /^(\[attr\]|#|!)/.test(path)) return undefined
  const said = new Map(rest!.split(/\s+/).flatMap((word) => parseWord(word, isWanted)))
  if (said.size === 0) return undefined
  const anchored = path.includes('/')
  // At the end it means what is inside, not the folder.
  const segments = path
    .replace(/^\//, '')
    .replace(/(^|\/)\*\*$/, '$1**/*')
    .split('/')
  return { pattern: compilePattern(anchored ? segments : ['**', ...segments], { classes: true }), said }
}

function parseWord(word: string, isWanted: (name: string) => boolean): [string, Value][] {
  const [, sign, name, text] = /^([-!]?)([^=]+)(?:=(.+))?$/.exec(word) ?? []
  if (name === undefined || !isWanted(name)) return []
  return [[name, sign === '!' ? undefined : sign === '-' ? false : (text ?? true)]]
}
