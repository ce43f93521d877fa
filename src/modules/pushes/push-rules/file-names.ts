import { shownPath } from '../../../git/format/text.ts'
import { compileExpression, type Expression } from '../../../kernel/expression.ts'
import { Turns } from '../../../kernel/turns.ts'
import type { Offence } from './offence.ts'
import type { EnforcedRule } from './queries.ts'

/** Paths of files that are likely to contain secrets (supplement 7.3). */
const secrets = [
  'aws\\/credentials$',
  '(ssh|config)\\/(personal|server)_(rsa|dsa|ed\\d+|ecdsa)',
  'id_rsa$',
  'id_dsa$',
  'id_ed25519$',
  'id_ecdsa$',
  '\\.(pem|key)$',
  '[._]history$',
]

/** Matches what any of them matches. A push may bring thousands of paths, and one expression is faster than eight. */
const anySecret = secrets.map((text) => `(?:${text})`).join('|')

/** Checks the paths of added and renamed files. */
export class FileNames {
  readonly #secret: Expression | undefined
  readonly #forbidden: { readonly text: string; readonly matches: Expression } | undefined
  readonly #turns = new Turns()

  constructor(rule: EnforcedRule) {
    this.#secret = rule.prevent_secrets ? compileExpression(anySecret, { ignoreCase: true }) : undefined
    const text = rule.file_name_regex
    this.#forbidden = text ? { text, matches: compileExpression(text) } : undefined
  }

  get areChecked(): boolean {
    return this.#secret !== undefined || this.#forbidden !== undefined
  }

  /** The first offence in the order of the paths. */
  async firstOffence(paths: Iterable<string>): Promise<Omit<Offence, 'commit'> | undefined> {
    if (!this.areChecked) return undefined
    for (const path of paths) {
      const offence = this.#offenceOf(path)
      if (offence) return offence
      if (this.#turns.isOver) await this.#turns.next()
    }
    return undefined
  }

  #offenceOf(path: string): Omit<Offence, 'commit'> | undefined {
    if (this.#secret?.(path)) {
      const pattern = secrets.find((text) => compileExpression(text, { ignoreCase: true })(path))!
      return offenceAt(path, pattern, 'prevent_secrets')
    }
    const forbidden = this.#forbidden
    return forbidden?.matches(path) ? offenceAt(path, forbidden.text, 'file_name_regex') : undefined
  }
}

function offenceAt(path: string, pattern: string, rule: Offence['rule']): Omit<Offence, 'commit'> {
  const shown = shownPath(path)
  return { text: `File name ${shown} was blacklisted by the pattern ${pattern}.`, rule, path: shown }
}
