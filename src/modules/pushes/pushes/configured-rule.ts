import type { Oid } from '../../../git/format/oid.ts'
import { branchName, branchRef, tagName } from '../../../git/format/ref-name.ts'
import { shownPath } from '../../../git/format/text.ts'
import { fewNewCommits, type NewCommit, newBlobsAmong, newCommits } from '../../../git/history/new-commits.ts'
import { objectContents, objectInfo, objectInfos } from '../../../git/objects/cat-file.ts'
import { parseCommit, readCommit } from '../../../git/objects/commits.ts'
import { maxPointerBytes, type Pointer, pointersIn } from '../../../git/objects/pointers.ts'
import { listSizedFiles } from '../../../git/objects/sized-files.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { QuarantinedRepository, type Repository } from '../../../git/repository/repository.ts'
import { compileExpression } from '../../../kernel/expression.ts'
import { CommitChecks, maxCommitBytes, type ReadCommit } from '../push-rules/commit-checks.ts'
import { FileNames } from '../push-rules/file-names.ts'
import type { Offence } from '../push-rules/offence.ts'
import type { EnforcedRule } from '../push-rules/queries.ts'
import { firstBranch } from './first-branch.ts'
import type { LargeFilesCheck } from './large-files-check.ts'
import type { PushFacts, PushRule } from './rule.ts'

/**
 * The push rule of the project. New commits are those that no branch or tag reaches; they are read once for all checks, with one
 * process for the list, or with none if the API adds few.
 */
export const configuredRule: PushRule = async (facts) => {
  const { configured: rule, mode } = facts
  if (!rule) return undefined
  return offenceOfNames(rule, facts) ?? (mode.begins ? undefined : offenceOfObjects(rule, facts))
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
  const checks = () => new CommitChecks(ctx, rule, { byApi: mode.transport === 'api', merges: mode.merges === true })
  const tips = [...new Set(changes.flatMap(({ from, to }) => (to === null || to === from ? [] : to)))]
  const checksFiles = names.areChecked || rule.max_file_size > 0
  if (tips.length === 0 || !(checksFiles || checks().areNeeded)) return undefined
  const repo = await facts.objects()
  const { commits, others } = await byType(repo, facts, tips)
  for (const tagged of checksFiles ? others : []) {
    const offence = await offenceOfTagged(repo, rule, names, tagged)
    if (offence) return offence
  }
  if (commits.length === 0) return undefined
  const search = (largeFiles?: LargeFilesCheck) => new Search(repo, rule, checks(), names, commits, largeFiles)
  if (!(repo instanceof QuarantinedRepository)) {
    const few = await fewNewCommits(repo, commits, await knownCommits(repo, project.default_branch, changes))
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
  repo: Repository,
  main: string | null,
  changes: PushFacts['changes'],
): Promise<ReadonlySet<Oid>> {
  const known = new Set(changes.flatMap(({ from }) => from ?? []))
  const ref = main === null ? undefined : branchRef(main)
  const tip = ref && changes.some(({ from }) => from === null) ? await readRef(repo, ref) : undefined
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
  const helper = await repo.objects()
  const others = new Map<Oid, Tagged>()
  for (let at = 0; at < unsure.length; at += askedAtOnce) {
    const asked = unsure.slice(at, at + askedAtOnce)
    const specs = asked.map((oid) => `${oid}^{}`)
    const peeled = await objectInfos(helper, specs)
    for (const [index, info] of peeled.entries())
      if (info?.type === 'tree' || info?.type === 'blob') others.set(asked[index]!, { oid: info.oid, type: info.type })
  }
  return { commits: tips.filter((oid) => !others.has(oid)), others: [...others.values()] }
}

const mebibyte = 1024 * 1024
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
  const maxBytes = rule.max_file_size * mebibyte
  const large = maxBytes === 0 ? [] : files.filter(({ sizeBytes }) => sizeBytes > maxBytes)
  if (large.length === 0) return undefined
  const fresh = await newBlobsAmong(repo, [oid], new Set(large.map((file) => file.oid)))
  const first = large.find((file) => fresh.has(file.oid))
  return first && offenceOfSize(rule, first.path)
}

function offenceOfSize(rule: EnforcedRule, path: string, commit?: Oid): Offence {
  const shown = shownPath(path)
  return {
    text: `File "${shown}" is larger than the allowed size of ${rule.max_file_size} MB`,
    rule: 'max_file_size',
    path: shown,
    ...(commit && { commit }),
  }
}

type PlacedFile = { readonly oid: Oid; readonly path: string; readonly commit: Oid }

type Looked = { readonly sizes: readonly number[]; readonly pointers: readonly Pointer[] }

/** Large files that are remembered before git is asked which of them are new. */
const maxLarge = 1000
const maxSeen = 100_000

/** Bytes of the files of a batch. If they are more, the sizes of the next files are asked before their contents. */
const maxReadUnasked = 1024 * 1024

/**
 * Looks for the first offence among commits: of a commit, then of a file name, then of a size. Checks large files as well: they pass
 * if those of all commits are stored. If some are not, it is not certain that the push is refused, because commits that only hidden
 * refs reach count as new here.
 */
class Search {
  readonly #repo: Repository
  readonly #rule: EnforcedRule
  readonly #checks: CommitChecks
  readonly #names: FileNames
  readonly #tips: readonly Oid[]
  readonly #maxBytes: number
  /** Files that have been checked. */
  readonly #seen = new Set<Oid>()
  #large: PlacedFile[] = []
  /** The last files that were asked about. */
  #areSmall = false
  #lastChecked: Oid | undefined
  #ofName: Offence | undefined
  #ofSize: Offence | undefined
  /** Undefined if they are not checked, or some are missing. */
  #largeFiles: LargeFilesCheck | undefined

  constructor(
    repo: Repository,
    rule: EnforcedRule,
    checks: CommitChecks,
    names: FileNames,
    tips: readonly Oid[],
    largeFiles: LargeFilesCheck | undefined,
  ) {
    this.#repo = repo
    this.#rule = rule
    this.#checks = checks
    this.#names = names
    this.#tips = tips
    this.#maxBytes = rule.max_file_size * mebibyte
    this.#largeFiles = largeFiles
  }

  /** For commits that are in the object cache. */
  async inAll(commits: readonly NewCommit[]): Promise<Offence | undefined> {
    const read = async ({ oid }: NewCommit): Promise<ReadCommit> => {
      const commit = await readCommit(this.#repo, oid)
      if (!commit) throw new Error(`the commit ${oid} is missing`)
      return commit.message.length > maxCommitBytes ? { oid, tooLarge: true } : commit
    }
    const readAll = (each: readonly NewCommit[]) => Promise.all(each.map(read))
    return (await this.#inBatch(commits, readAll)) ?? this.#conclude()
  }

  async inStream(batches: AsyncIterable<readonly NewCommit[]>): Promise<Offence | undefined> {
    const helper = await this.#repo.objects()
    // What follows starts beside the process that lists the commits.
    void objectInfo(helper, this.#tips[0]!).catch(() => {})
    this.#checks.begin()
    const read = async (commits: readonly NewCommit[]): Promise<ReadCommit[]> => {
      const oids = commits.map(({ oid }) => oid)
      const found = await objectContents(helper, oids, maxCommitBytes)
      return oids.map((oid, index) => {
        const commit = found[index]
        if (!commit) throw new Error(`the commit ${oid} is missing`)
        return commit.content ? parseCommit(oid, commit.content) : { oid, tooLarge: true }
      })
    }
    for await (const commits of batches) {
      const offence = await this.#inBatch(commits, read)
      if (offence) return offence
    }
    const offence = await this.#conclude()
    if (!offence) this.#largeFiles?.pass()
    return offence
  }

  async #inBatch(
    commits: readonly NewCommit[],
    read: (commits: readonly NewCommit[]) => Promise<ReadCommit[]>,
  ): Promise<Offence | undefined> {
    const files = this.#unseenFiles(commits)
    const unchecked = this.#checks.areNeeded ? commits.filter(({ oid }) => oid !== this.#lastChecked) : []
    this.#lastChecked = commits.at(-1)?.oid
    const reading = read(unchecked)
    // The questions about files do not wait for the answers about commits.
    const looking = this.#look(files)
    looking.catch(() => {})
    const offence = await this.#checks.firstOffence(await reading)
    if (offence) return offence
    if (!this.#ofName) await this.#checkNames(commits)
    if (!this.#ofName) await this.#checkContents(files, await looking)
    return undefined
  }

  async #checkNames(commits: readonly NewCommit[]): Promise<void> {
    for (const { oid, files } of commits) {
      const offence = await this.#names.firstOffence(files.flatMap(({ path, isAdded }) => (isAdded ? path : [])))
      if (offence) {
        this.#ofName = { ...offence, commit: oid }
        return
      }
    }
  }

  /** Files whose size or content matters, each once. */
  #unseenFiles(commits: readonly NewCommit[]): readonly PlacedFile[] {
    const asksFiles = this.#maxBytes > 0 || this.#largeFiles !== undefined
    if (!asksFiles || this.#ofName || this.#ofSize) return []
    if (this.#seen.size > maxSeen) this.#seen.clear()
    const unseen: PlacedFile[] = []
    for (const { oid: commit, files } of commits)
      for (const { oid, path } of files) {
        if (this.#seen.has(oid)) continue
        this.#seen.add(oid)
        unseen.push({ oid, path, commit })
      }
    return unseen
  }

  /** The size of each file, and the pointers among them if these matter. Files after small ones are read without asking for their sizes. */
  async #look(files: readonly PlacedFile[]): Promise<Looked> {
    if (files.length === 0) return { sizes: [], pointers: [] }
    const helper = await this.#repo.objects()
    const oids = files.map(({ oid }) => oid)
    const all = this.#largeFiles && this.#areSmall ? await objectContents(helper, oids, maxPointerBytes) : undefined
    const sizes = (all ?? (await objectInfos(helper, oids))).map((file) => file?.sizeBytes ?? 0)
    this.#areSmall = sizes.reduce((sum, size) => sum + size, 0) <= maxReadUnasked
    if (!this.#largeFiles) return { sizes, pointers: [] }
    const small = () => oids.filter((_, index) => sizes[index]! <= maxPointerBytes)
    return { sizes, pointers: pointersIn(all ?? (await objectContents(helper, small(), maxPointerBytes))) }
  }

  async #checkContents(files: readonly PlacedFile[], { sizes, pointers }: Looked): Promise<void> {
    if (this.#largeFiles && !(await this.#largeFiles.areStored(pointers))) this.#largeFiles = undefined
    if (this.#maxBytes === 0) return
    this.#large.push(...files.filter((_, index) => sizes[index]! > this.#maxBytes))
    if (this.#large.length >= maxLarge) await this.#checkLarge()
  }

  /** Files that existed before, under another name or in another branch, may stay. */
  async #checkLarge(): Promise<void> {
    const large = this.#large
    this.#large = []
    const fresh = await newBlobsAmong(this.#repo, this.#tips, new Set(large.map(({ oid }) => oid)))
    const first = large.find(({ oid }) => fresh.has(oid))
    if (first) this.#ofSize = offenceOfSize(this.#rule, first.path, first.commit)
  }

  async #conclude(): Promise<Offence | undefined> {
    if (!this.#ofName && !this.#ofSize && this.#large.length > 0) await this.#checkLarge()
    return this.#ofName ?? this.#ofSize
  }
}
