import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { FilePatch } from '../../../git/history/patch-reader.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { linesOf } from '../../discussion/index.ts'
import { patchesOf, type Version, versionBetween } from '../../review/index.ts'
import type { DiffCommentItem, PullItem } from './items.ts'

const commitAt = async (repo: Repository, oid: string | null): Promise<Oid | null> =>
  oid === null ? null : ((await readCommit(repo, oid as Oid))?.oid ?? null)

/** The version of an imported pull request: from the commit with which the forge compares, or the tip of the target branch, to its head. */
export async function versionOf(ctx: Ctx, repo: Repository, pull: PullItem): Promise<Version> {
  const head = await commitAt(repo, pull.head)
  const target = branchRef(pull.targetBranch)
  const tip = target && (await readRef(repo, target))
  // An open one is compared with what the branch is now.
  const base = pull.state === 'opened' ? null : await commitAt(repo, pull.base)
  return versionBetween(ctx, repo, head, base ?? (tip ? await commitAt(repo, tip) : null))
}

/** Diffs that are in memory at once. */
const maxDiffs = 8

/** Where comments are in the diffs of imported pull requests. */
export class Places {
  readonly #ctx: Ctx
  readonly #repo: Repository
  readonly #versions = new Map<number, Version>()
  readonly #diffs = new Map<number, readonly FilePatch[]>()

  constructor(ctx: Ctx, repo: Repository) {
    this.#ctx = ctx
    this.#repo = repo
  }

  add(number: number, version: Version): void {
    // Its lists are not needed again.
    if (version.head && version.start && version.base)
      this.#versions.set(number, { ...version, commits: [], committers: [] })
  }

  /** The position of a comment; undefined if the diff does not show its line. */
  async find({ number, path, newLine, oldLine }: DiffCommentItem): Promise<object | undefined> {
    const version = this.#versions.get(number)
    if (!version || (newLine === null && oldLine === null)) return undefined
    for (const { change, text } of await this.#diff(number, version)) {
      const paths = { old_path: shownPath(change.oldPath), new_path: shownPath(change.newPath) }
      if (path !== (newLine === null ? paths.old_path : paths.new_path)) continue
      const line = linesOf(text).find(({ kind, oldPosition, newPosition }) =>
        newLine === null ? kind !== 'new' && oldPosition === oldLine : kind !== 'old' && newPosition === newLine,
      )
      if (!line) continue
      return {
        base_sha: version.base,
        start_sha: version.start,
        head_sha: version.head,
        ...paths,
        position_type: 'text',
        old_line: line.kind === 'new' ? null : line.oldPosition,
        new_line: line.kind === 'old' ? null : line.newPosition,
      }
    }
    return undefined
  }

  async #diff(number: number, { head, base }: Version): Promise<readonly FilePatch[]> {
    let files = this.#diffs.get(number)
    if (!files) {
      files = (await patchesOf(this.#ctx, this.#repo, { head: head!, base })).files
      const [oldest] = this.#diffs.keys()
      if (this.#diffs.size >= maxDiffs && oldest !== undefined) this.#diffs.delete(oldest)
    } else this.#diffs.delete(number)
    this.#diffs.set(number, files)
    return files
  }
}
