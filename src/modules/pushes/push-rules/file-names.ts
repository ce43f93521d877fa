import { compileExpression, type Expression } from '../../../kernel/expression.ts'
import type { Offence } from './offence.ts'
import type { EnforcedRule } from './queries.ts'
import { Turns } from './turns.ts'

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

type Pattern = { readonly text: string; readonly rule: Offence['rule']; readonly matches: Expression }

/** Checks the paths of added and renamed files. */
export class FileNames {
  readonly #patterns: readonly Pattern[]
  readonly #turns = new Turns()

  constructor(rule: EnforcedRule) {
    this.#patterns = [
      ...(rule.prevent_secrets ? secrets : []).map((text): Pattern => {
        return { text, rule: 'prevent_secrets', matches: compileExpression(text, { ignoreCase: true }) }
      }),
      ...(rule.file_name_regex ? [rule.file_name_regex] : []).map((text): Pattern => {
        return { text, rule: 'file_name_regex', matches: compileExpression(text) }
      }),
    ]
  }

  get areChecked(): boolean {
    return this.#patterns.length > 0
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
    const found = this.#patterns.find(({ matches }) => matches(path))
    return found && { text: `File name ${path} was blacklisted by the pattern ${found.text}.`, rule: found.rule, path }
  }
}
