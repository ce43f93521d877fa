import { PathRules } from '../../kernel/path-rules.ts'

/** Maximum lines of a `.gitattributes` file; the rest is ignored. */
const maxLines = 10_000

/** From `name`, `-name`, `!name` or `name=text`. */
type Value = string | boolean | undefined
type Line = { readonly pattern: string; readonly value: ReadonlyMap<string, Value> }

/** Attributes of paths by the root `.gitattributes`. The last matching line that sets the attribute counts. */
export class PathAttributes {
  readonly #rules: PathRules<Line['value']>

  /** Ignores attributes whose names do not pass `isWanted`. */
  constructor(text: string, isWanted: (name: string) => boolean) {
    this.#rules = new PathRules(text.split('\n', maxLines).flatMap((line) => parseLine(line, isWanted) ?? []))
  }

  /** The value of an attribute of a path: its text, true or false if set or unset, `undefined` if unspecified. */
  valueOf(path: string, name: string): Value {
    return this.#rules.last(path, (said) => said.has(name))?.get(name)
  }
}

/** The `filter` attributes of the root `.gitattributes`. */
export class FilterAttributes {
  readonly #attributes: PathAttributes

  constructor(text: string) {
    this.#attributes = new PathAttributes(text, (name) => name === 'filter')
  }

  /** The filter of a path, such as `lfs`; `undefined` if it has none. */
  filterOf(path: string): string | undefined {
    const value = this.#attributes.valueOf(path, 'filter')
    return typeof value === 'string' ? value : undefined
  }
}

/** `*.bin filter=lfs -text`; the pattern is quoted if it contains blanks. */
function parseLine(line: string, isWanted: (name: string) => boolean): Line | undefined {
  const [, quoted, bare, rest] = /^\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s(.*)$/s.exec(line) ?? []
  const path = quoted?.replace(/\\(["\\])/g, '$1') ?? bare
  // Macros, comments, and negative patterns, which git does not allow here.
  if (path === undefined || /^(\[attr\]|#|!)/.test(path)) return undefined
  const said = new Map(rest!.split(/\s+/).flatMap((word) => parseWord(word, isWanted)))
  if (said.size === 0) return undefined
  return { pattern: path.includes('/') ? path.replace(/^\//, '') : `**/${path}`, value: said }
}

function parseWord(word: string, isWanted: (name: string) => boolean): [string, Value][] {
  const [, sign, name, text] = /^([-!]?)([^=]+)(?:=(.+))?$/.exec(word) ?? []
  if (name === undefined || !isWanted(name)) return []
  return [[name, sign === '!' ? undefined : sign === '-' ? false : (text ?? true)]]
}
