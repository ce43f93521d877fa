import type { Oid } from '../../../git/format/oid.ts'
import { type NewCommit, newBlobsAmong } from '../../../git/history/new-commits.ts'
import { objectContents, objectInfo, objectInfos } from '../../../git/objects/cat-file.ts'
import { parseCommit, readTip } from '../../../git/objects/commits.ts'
import { maxPointerBytes, type Pointer, pointersIn } from '../../../git/objects/pointers.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type CommitChecks, maxCommitBytes, type ReadCommit } from '../push-rules/commit-checks.ts'
import type { FileNames } from '../push-rules/file-names.ts'
import { maxBytesOf, offenceOfSize } from '../push-rules/file-size.ts'
import type { Offence } from '../push-rules/offence.ts'
import type { EnforcedRule } from '../push-rules/queries.ts'
import type { LargeFilesCheck } from './large-files-check.ts'

type PlacedFile = { readonly oid: Oid; readonly path: string; readonly commit: Oid }

type Looked = { readonly sizes: readonly number[]; readonly pointers: readonly Pointer[] }

/** Large files that are remembered before git is asked which of them are new. */
const maxLarge = 1000
const maxSeen = 100_000

/** Bytes of the files of a batch. If they are more, the sizes of the next files are asked before their contents. */
const maxReadUnasked = 1024 * 1024

type SearchOptions = {
  readonly repo: Repository
  readonly rule: EnforcedRule
  readonly checks: CommitChecks
  readonly names: FileNames
  /** The commits whose history is searched. At least one. */
  readonly tips: readonly Oid[]
  /** Undefined if large files are not checked. */
  readonly largeFiles?: LargeFilesCheck | undefined
}

/**
 * Looks for the first offence among commits: of a commit, then of a file name, then of a size. Checks large files as well: they pass
 * if those of all commits are stored. If some are not, it is not certain that the push is refused, because commits that only hidden
 * refs reach count as new here.
 */
export class CommitSearch {
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

  constructor({ repo, rule, checks, names, tips, largeFiles }: SearchOptions) {
    this.#repo = repo
    this.#rule = rule
    this.#checks = checks
    this.#names = names
    this.#tips = tips
    this.#maxBytes = maxBytesOf(rule)
    this.#largeFiles = largeFiles
  }

  /** For commits that are in the object cache. */
  async inAll(commits: readonly NewCommit[]): Promise<Offence | undefined> {
    const read = async ({ oid }: NewCommit): Promise<ReadCommit> => {
      const commit = await readTip(this.#repo, oid)
      return commit.message.length > maxCommitBytes ? { oid, tooLarge: true } : commit
    }
    const readAll = (each: readonly NewCommit[]) => Promise.all(each.map(read))
    return (await this.#inBatch(commits, readAll)) ?? this.#conclude()
  }

  async inStream(batches: AsyncIterable<readonly NewCommit[]>): Promise<Offence | undefined> {
    // What follows starts beside the process that lists the commits.
    void objectInfo(await this.#repo.objects(), this.#tips[0]!).catch(() => {})
    this.#checks.begin()
    const read = async (commits: readonly NewCommit[]): Promise<ReadCommit[]> => {
      const oids = commits.map(({ oid }) => oid)
      // Asked for each time: the process is replaced now and then.
      const found = await objectContents(await this.#repo.objects(), oids, maxCommitBytes)
      return oids.map((oid, index) => {
        const commit = found[index]
        if (!commit) throw this.#repo.damage(`commit ${oid}`)
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
    if ((await this.#largeFiles?.violation(pointers)) !== undefined) this.#largeFiles = undefined
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
