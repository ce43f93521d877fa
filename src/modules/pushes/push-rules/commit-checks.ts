import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { isSigned } from '../../../git/objects/signature-format.ts'
import { compileExpression, type Expression } from '../../../kernel/expression.ts'
import { Turns } from '../../../kernel/turns.ts'
import { addressesOf, addressesOfUsers, type OwnAddress } from '../../accounts/index.ts'
import type { Offence } from './offence.ts'
import type { EnforcedRule } from './queries.ts'

/** Larger commits are refused, because expressions would take too long. */
export const maxCommitBytes = 256 * 1024

/** What the commits are part of. */
export type CommitOrigin = {
  /** Those that the service makes, which it does not sign. */
  readonly made: ReadonlySet<Oid> | 'all'
  /** A merge: the commits of the source branch were pushed by others. */
  readonly merges: boolean
}

/** A commit as it was read; `too_large` beyond `maxCommitBytes`. */
export type ReadCommit = Commit | { readonly oid: Oid; readonly tooLarge: true }

type Check = { readonly rule: Offence['rule']; violation(commit: Commit): string | undefined }

const maxKnownAddresses = 10_000

/** Checks single commits, in the order of the specification (supplement 7.2, rules 3 to 8). */
export class CommitChecks {
  readonly #ctx: Ctx
  readonly #checks: Check[] = []
  /** Whether an address belongs to a user, in lower case. */
  readonly #known: Map<string, boolean> | undefined
  #own: OwnAddress | undefined
  #loadingOwn: Promise<OwnAddress> | undefined
  readonly #asksOwn: boolean
  readonly #turns = new Turns()

  constructor(ctx: Ctx, rule: EnforcedRule, { made, merges }: CommitOrigin) {
    this.#ctx = ctx
    this.#asksOwn = rule.commit_committer_check && !merges
    const wanted = expressionOf(rule.commit_message_regex, true)
    if (wanted)
      this.#add('commit_message_regex', ({ message }) =>
        wanted(message) ? undefined : `Commit message does not follow the pattern '${rule.commit_message_regex}'`,
      )
    const forbidden = expressionOf(rule.commit_message_negative_regex, true)
    if (forbidden)
      this.#add('commit_message_negative_regex', ({ message }) =>
        forbidden(message)
          ? `Commit message contains the forbidden pattern '${rule.commit_message_negative_regex}'`
          : undefined,
      )
    const address = expressionOf(rule.author_email_regex, false)
    if (address) {
      const violation = (who: string, email: string) =>
        address(email)
          ? undefined
          : `${who}'s email '${email}' does not follow the pattern '${rule.author_email_regex}'`
      this.#add(
        'author_email_regex',
        ({ committer, author }) => violation('Committer', committer.email) ?? violation('Author', author.email),
      )
    }
    if (this.#asksOwn) this.#add('commit_committer_check', ({ committer }) => this.#ofCommitter(committer.email))
    if (rule.reject_unsigned_commits && made !== 'all')
      this.#add('reject_unsigned_commits', (commit) =>
        isSigned(commit) || made.has(commit.oid) ? undefined : 'Commit must be signed with a GPG key',
      )
    if (rule.member_check) {
      this.#known = new Map()
      this.#add('member_check', ({ author, committer }) => {
        if (!this.#isKnown(author.email)) return `Author '${author.email}' is not a member of team`
        return this.#isKnown(committer.email) ? undefined : `Committer '${committer.email}' is not a member of team`
      })
    }
  }

  get areNeeded(): boolean {
    return this.#checks.length > 0
  }

  /** Begins to read what is the same for all commits, while these are listed. */
  begin(): void {
    this.#loadOwn().catch(() => {})
  }

  /** The first offence in the order of the commits. At most a few statements. */
  async firstOffence(commits: readonly ReadCommit[]): Promise<Offence | undefined> {
    await this.#loadAddresses(commits)
    for (const commit of commits) {
      if ('tooLarge' in commit) {
        const text = `Commit is larger than ${maxCommitBytes / 1024} KiB, which push rules cannot check`
        return { text, rule: this.#checks[0]!.rule, commit: commit.oid }
      }
      for (const { rule, violation } of this.#checks) {
        const text = violation(commit)
        if (text !== undefined) return { text, rule, commit: commit.oid }
      }
      if (this.#turns.isOver) await this.#turns.next()
    }
    return undefined
  }

  #add(rule: Offence['rule'], violation: Check['violation']): void {
    this.#checks.push({ rule, violation })
  }

  #ofCommitter(email: string): string | undefined {
    const own = this.#own?.(email)
    if (own === 'confirmed') return undefined
    return own === 'unconfirmed'
      ? `Committer email '${email}' is not verified.`
      : `You cannot push commits for '${email}'. You can only push commits if the committer email is one of your own verified emails.`
  }

  #isKnown(email: string): boolean {
    return this.#known!.get(email.toLowerCase()) === true
  }

  #loadOwn(): Promise<OwnAddress> {
    const { actor } = this.#ctx
    // A deploy key pushes for the user who created it.
    const id = actor && this.#asksOwn ? accountOf(actor) : null
    this.#loadingOwn ??= id === null ? Promise.resolve(() => undefined) : addressesOf(this.#ctx, id)
    return this.#loadingOwn
  }

  async #loadAddresses(commits: readonly ReadCommit[]): Promise<void> {
    this.#own = await this.#loadOwn()
    const known = this.#known
    if (!known) return
    if (known.size > maxKnownAddresses) known.clear()
    const asked = new Set<string>()
    for (const commit of commits) {
      if ('tooLarge' in commit) continue
      for (const { email } of [commit.author, commit.committer])
        if (!known.has(email.toLowerCase())) asked.add(email.toLowerCase())
    }
    if (asked.size === 0) return
    const found = await addressesOfUsers(this.#ctx, asked)
    for (const address of asked) known.set(address, found.has(address))
  }
}

const expressionOf = (text: string | null, multiline: boolean): Expression | undefined =>
  text ? compileExpression(text, { multiline }) : undefined
