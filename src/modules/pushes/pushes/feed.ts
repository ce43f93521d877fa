import type { Ctx } from '../../../api/ctx.ts'
import type { FeedEntry, PushedRefs } from '../../../events/catalogue.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, branchRef, tagName } from '../../../git/format/ref-name.ts'
import { countCommits } from '../../../git/history/history.ts'
import { type Commit, readCommit, titleOf } from '../../../git/objects/commits.ts'
import { brokenTarget, readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { ifReadable } from './if-readable.ts'

/** Maximum number of new commits that are counted. */
const countedCommits = 10_000
const titleLength = 70

/** A change of a branch or tag with its short name. */
type Named = {
  readonly change: RefChange
  readonly name: string
  readonly type: PushedRefs['ref_type']
  readonly action: PushedRefs['action']
}

/**
 * Entries of the activity feed for a push: one for each branch and tag, or a single one for all branches (or tags) that
 * were created, moved or removed if they are more than the setting allows. Other refs have no entry. One commit walk
 * for each entry.
 */
export async function feedOfPush(
  ctx: Ctx,
  repo: Repository,
  defaultBranch: string | null,
  moved: readonly RefChange[],
): Promise<FeedEntry[]> {
  const alike = Map.groupBy(moved.flatMap(named), ({ type, action }) => `${type} ${action}`)
  const entries: FeedEntry[] = []
  for (const changes of alike.values()) {
    if (changes.length > ctx.settings.push_event_activities_limit) entries.push(groupedEntry(changes))
    else for (const one of changes) entries.push(await singleEntry(ctx, repo, defaultBranch, one))
  }
  return entries
}

function named(change: RefChange): Named[] {
  const branch = branchName(change.name)
  const name = branch ?? tagName(change.name)
  if (name === undefined) return []
  const action = change.from === null ? 'created' : change.to === null ? 'removed' : 'pushed'
  return [{ change, name, type: branch === undefined ? 'tag' : 'branch', action }]
}

const entry = (push: PushedRefs): FeedEntry => ({ action: 'pushed', code: true, push })

const groupedEntry = (changes: readonly Named[]): FeedEntry =>
  entry({
    commit_count: 0,
    action: changes[0]!.action,
    ref_type: changes[0]!.type,
    commit_from: null,
    commit_to: null,
    ref: null,
    commit_title: null,
    ref_count: changes.length,
  })

async function singleEntry(
  ctx: Ctx,
  repo: Repository,
  defaultBranch: string | null,
  { change: { from, to }, name, type, action }: Named,
): Promise<FeedEntry> {
  const commit = to === null || type === 'tag' ? undefined : await ifReadable(ctx, readCommit(repo, to), undefined)
  const known =
    from ?? (name === defaultBranch ? undefined : await ifReadable(ctx, tipOf(repo, defaultBranch), undefined))
  return entry({
    commit_count: commit ? await ifReadable(ctx, countNew(repo, commit, known), 0) : 0,
    action,
    ref_type: type,
    commit_from: from === brokenTarget ? null : from,
    commit_to: to,
    ref: name,
    commit_title: commit ? shortened(titleOf(commit.message)) : null,
    ref_count: null,
  })
}

/** Number of commits that are new with a tip; `known` is the previous tip, which a damaged repository may have lost. */
async function countNew(repo: Repository, tip: Commit, known: Oid | undefined): Promise<number> {
  if (tip.parents.length === 1 && tip.parents[0] === known) return 1
  const before = known && (await readCommit(repo, known))
  return countCommits(repo, { from: [tip.oid], ...(before && { excluding: [before.oid] }) }, { atMost: countedCommits })
}

async function tipOf(repo: Repository, branch: string | null): Promise<Oid | undefined> {
  const ref = branch === null ? undefined : branchRef(branch)
  return ref && (await readRef(repo, ref))
}

/** Cuts by code point rather than code unit, so that no character is split. */
function shortened(title: string): string {
  const characters = [...title.slice(0, 2 * titleLength + 2)]
  return characters.length > titleLength ? `${characters.slice(0, titleLength - 3).join('')}...` : title
}
