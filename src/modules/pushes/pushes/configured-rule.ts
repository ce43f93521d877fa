import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchName, branchRef, tagName } from '../../../git/format/ref-name.ts'
import { fewNewCommits, newBlobsAmong, newCommits } from '../../../git/history/new-commits.ts'
import { objectInfo, objectInfos } from '../../../git/objects/cat-file.ts'
import { listSizedFiles } from '../../../git/objects/sized-files.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { QuarantinedRepository, type Repository } from '../../../git/repository/repository.ts'
import { compileExpression, expressionViolation } from '../../../kernel/expression.ts'
import { CommitChecks } from '../push-rules/commit-checks.ts'
import { FileNames } from '../push-rules/file-names.ts'
import { maxBytesOf, offenceOfSize } from '../push-rules/file-size.ts'
import type { Offence } from '../push-rules/offence.ts'
import type { EnforcedRule } from '../push-rules/queries.ts'
import { CommitSearch } from './commit-search.ts'
import { firstBranch } from './first-branch.ts'
import { ifReadable } from './if-readable.ts'
import type { LargeFilesCheck } from './large-files-check.ts'
import { onNew, type PushFacts, type PushRule } from './rule.ts'

/**
 * The push rule of the project. New commits are those that no branch or tag reaches; they are read once for all checks, with one
 * process for the list, or with none if the API adds few.
 */
export const configuredRule: PushRule = async (facts) => {
  const { configured: rule, mode } = facts
  if (!rule) return undefined
  const unusable = unusableExpression(rule)
  if (unusable) return unusable
  return offenceOfNames(rule, facts) ?? (mode.begins ? undefined : onNew(() => offenceOfObjects(rule, facts))(facts))
}

const expressions = [
  'branch_name_regex',
  'commit_message_regex',
  'commit_message_negative_regex',
  'author_email_regex',
  'file_name_regex',
] as const

/** A stored expression that cannot be compiled, such as one from before a limit: what follows it is not known. */
function unusableExpression(rule: EnforcedRule): Offence | undefined {
  for (const name of expressions) {
    const violation = rule[name] ? expressionViolation(rule[name]) : undefined
    if (violation) return { text: `The push rule ${name} cannot be used: it is ${violation}`, rule: name }
  }
  return undefined
}

function offenceOfNames(rule: EnforcedRule, { project, mode, changes }: PushFacts): Offence | undefined {
  const overGit = mode.transport === 'http' || mode.transport === 'ssh'
  if (rule.deny_delete_tag && overGit && changes.some(({ name, from, to }) => tagName(name) && from && !to))
    return { text: 'You cannot delete a tag', rule: 'deny_delete_tag' }
  if (!rule.branch_name_regex) return undefined
  const follows = compileExpression(rule.branch_name_regex)
  const main = project.default_branch ?? firstBranch(changes)
  for (const { name: ref, to } of changes) {
    const name = branchName(ref)
    if (name !== undefined && to !== null && name !== main && !follows(name))
      return {
        text: `Branch name does not follow the pattern '${rule.branch_name_regex}'`,
        rule: 'branch_name_regex',
      }
  }
  return undefined
}

async function offenceOfObjects(rule: EnforcedRule, facts: PushFacts): Promise<Offence | undefined> {
  const { ctx, project, mode, changes } = facts
  const names = new FileNames(rule)
  const tips = [...new Set(changes.flatMap(({ from, to }) => (to === null || to === from ? [] : to)))]
  const { makes, merges = false } = mode
  const made = makes === 'all' ? makes : new Set(makes === 'tips' ? tips : [])
  const checks = () => new CommitChecks(ctx, rule, { made, merges })
  const checksFiles = names.areChecked || rule.max_file_size > 0
  if (tips.length === 0 || !(checksFiles || checks().areNeeded)) return undefined
  const repo = await facts.objects()
  const { commits, others } = await byType(repo, facts, tips)
  for (const tagged of checksFiles ? others : []) {
    const offence = await offenceOfTagged(repo, rule, names, tagged)
    if (offence) return offence
  }
  if (commits.length === 0) return undefined
  const search = (largeFiles?: LargeFilesCheck) =>
    new CommitSearch({ repo, rule, checks: checks(), names, tips: commits, largeFiles })
  if (!(repo instanceof QuarantinedRepository)) {
    const few = await fewNewCommits(repo, commits, await knownCommits(ctx, repo, project.default_branch, changes))
    // They may include commits that are not new, so an offence among them is not certain.
    if (few && !(await search().inAll(few))) return undefined
  }
  // Commits have all new files, unless tags refer to others.
  const findsAll = checksFiles && others.length === 0 && (await facts.largeFiles.isPending())
  const withPointers = findsAll ? facts.largeFiles : undefined
  return search(withPointers).inStream(newCommits(repo, commits, { withFiles: checksFiles }))
}

/** Commits on which those of the API are usually made. */
async function knownCommits(
  ctx: Ctx,
  repo: Repository,
  main: string | null,
  changes: PushFacts['changes'],
): Promise<ReadonlySet<Oid>> {
  const known = new Set(changes.flatMap(({ from }) => from ?? []))
  const ref = main === null ? undefined : branchRef(main)
  const asks = changes.some(({ from }) => from === null)
  const tip = ref && asks ? await ifReadable(ctx, readRef(repo, ref), undefined) : undefined
  return tip ? known.add(tip) : known
}

type Tagged = { readonly oid: Oid; readonly type: 'tree' | 'blob' }

const askedAtOnce = 1000

/** Tags may refer to trees and files; branches have commits only. */
async function byType(
  repo: Repository,
  { changes }: PushFacts,
  tips: readonly Oid[],
): Promise<{ commits: readonly Oid[]; others: readonly Tagged[] }> {
  const onBranches = new Set(changes.flatMap(({ name, to }) => (branchName(name) === undefined || !to ? [] : to)))
  const unsure = tips.filter((oid) => !onBranches.has(oid))
  if (unsure.length === 0) return { commits: tips, others: [] }
  const others = new Map<Oid, Tagged>()
  for (let at = 0; at < unsure.length; at += askedAtOnce) {
    const asked = unsure.slice(at, at + askedAtOnce)
    const specs = asked.map((oid) => `${oid}^{}`)
    const peeled = await objectInfos(await repo.objects(), specs)
    for (const [index, info] of peeled.entries())
      if (info?.type === 'tree' || info?.type === 'blob') others.set(asked[index]!, { oid: info.oid, type: info.type })
  }
  return { commits: tips.filter((oid) => !others.has(oid)), others: [...others.values()] }
}

/** Maximum files of a tagged tree; projects tag such trees rarely. */
const maxTagged = 50_000

/** Of a tag that refers to a file or to a tree. Files that branches have already may be of any size. */
async function offenceOfTagged(
  repo: Repository,
  rule: EnforcedRule,
  names: FileNames,
  { oid, type }: Tagged,
): Promise<Offence | undefined> {
  const sizeOf = async () => (await objectInfo(await repo.objects(), oid))?.sizeBytes ?? 0
  const files =
    type === 'blob' ? [{ path: oid, oid, sizeBytes: await sizeOf() }] : await listSizedFiles(repo, oid, maxTagged)
  if (files.length >= maxTagged)
    return {
      text: `The tree ${oid} has more than ${maxTagged} files, which push rules cannot check`,
      rule: names.areChecked ? 'file_name_regex' : 'max_file_size',
    }
  const ofName = type === 'tree' ? await names.firstOffence(files.map(({ path }) => path)) : undefined
  if (ofName) return ofName
  const maxBytes = maxBytesOf(rule)
  const large = maxBytes === 0 ? [] : files.filter(({ sizeBytes }) => sizeBytes > maxBytes)
  if (large.length === 0) return undefined
  const fresh = await newBlobsAmong(repo, [oid], new Set(large.map((file) => file.oid)))
  const first = large.find((file) => fresh.has(file.oid))
  return first && offenceOfSize(rule, first.path)
}
