import { PathRules } from '../../../kernel/path-rules.ts'
import { Turns } from '../../../kernel/turns.ts'

/** A line of a CODEOWNERS file that assigns owners to files or, without owners, removes them. */
type Entry = { readonly pattern: string; readonly value: { readonly owned: boolean } }

/** With more entries, all files have owners. */
const maxEntries = 10_000

/** Of paths with patterns; the files that remain have owners. Patterns that name no file, folder or extension take many. */
const maxComparisons = 5_000_000

/** Which files have owners. Patterns are those of `.gitignore` without `!`; the last match counts. */
export class CodeOwners {
  readonly #rules: PathRules<Entry['value']>
  readonly isEmpty: boolean

  constructor(text: string) {
    const entries: Entry[] = []
    for (const line of text.split('\n')) {
      const entry = parseLine(line)
      if (entry) entries.push(entry)
      if (entries.length <= maxEntries) continue
      // A file that is too long to compare protects all files rather than none.
      entries.push(everything)
      break
    }
    this.isEmpty = entries.length === 0
    this.#rules = new PathRules(entries)
  }

  /** For a file whose content is unknown: owners that are unknown, too. */
  static ofAllFiles(): CodeOwners {
    return new CodeOwners('* @unknown-owner')
  }

  /** Lets other requests have their turn. */
  async ownsAny(paths: Iterable<string>): Promise<boolean> {
    const turns = new Turns()
    for (const path of paths) {
      if (this.#rules.comparisons > maxComparisons || this.#rules.last(path)?.owned) return true
      if (turns.isOver) await turns.next()
    }
    return false
  }
}

const everything: Entry = { pattern: '**', value: { owned: true } }

/** Parses a line such as `docs/ @ann ann@example.com`; blanks in a path are escaped with a backslash. */
function parseLine(line: string): Entry | undefined {
  const words = line.trim().match(/(?:\\.|[^\s\\])+/g) ?? []
  const [first, ...rest] = words
  // A section heading is not a pattern.
  if (first === undefined || first.startsWith('#') || /^\^?\[[^\]]*\](\[\d+\])?$/.test(line.trim())) return undefined
  const owned = rest.some((word) => word.includes('@'))
  const root = first.startsWith('/') ? '' : '**/'
  const path = first.replaceAll(/\/+/g, '/').replace(/^\//, '')
  const content = first.endsWith('/') ? '**' : ''
  return { pattern: root + path + content, value: { owned } }
}
