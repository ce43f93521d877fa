import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, inflateSync } from 'node:zlib'
import { namesIn } from '../../kernel/missing.ts'
import { type Oid, parseOid } from '../format/oid.ts'
import { isWithin } from '../history/ancestry.ts'
import type { ObjectType } from '../objects/cat-file.ts'
import { parseCommit, readCommit } from '../objects/commits.ts'
import type { NewObject } from '../objects/objects.ts'
import { maxPointerBytes, newPointers, type Pointer, parsePointer } from '../objects/pointers.ts'
import { looseHeader } from '../objects/read-object.ts'
import { parseTree, readTree, symbolicLink, type TreeEntry } from '../objects/trees.ts'
import { readRefFiles, withoutBroken } from '../refs/ref-files.ts'
import { QuarantinedRepository, type Repository } from '../repository/repository.ts'

/** Beyond these limits git finds the new objects faster, or with less memory. */
const maxObjects = 100
const maxFileBytes = 64 * 1024
const maxContentBytes = 2 * 1024 * 1024
const maxEntries = 50_000
/** Of this many branches it is cheap to ask whether they have a commit in their history. */
const maxBranches = 500
/** Of this many commits, each time with a walk of the history. */
const maxSought = 16

/** Enough of a compressed object for its type and size. */
const headBytes = 512

/** An object of the push; the content of a large blob is not read. */
type PushedObject = { readonly type: ObjectType; readonly content: Buffer | undefined }

/**
 * LFS pointers in the commits that a push adds, in batches, possibly with duplicates. `repo` has its objects. No process for a
 * small push in quarantine; else as `newPointers`.
 */
export async function* pointersOfPush(repo: Repository, tips: readonly Oid[]): AsyncIterable<Pointer[]> {
  const push = repo instanceof QuarantinedRepository ? await followed(repo, tips) : undefined
  if (push) yield push.blobs.flatMap((blob) => parsePointer(blob.toString('utf8')) ?? [])
  else yield* newPointers(repo, tips, { without: await withoutBroken(repo) })
}

/**
 * Whether nothing is missing of what the tips lead to: it is in quarantine, or belongs to branches; and they lead to all that is in quarantine, so nothing
 * is missing of the rest either. No process. False also if only git can tell.
 */
export const isConnected = async (quarantine: QuarantinedRepository, tips: readonly Oid[]): Promise<boolean> =>
  (await followed(quarantine, tips))?.leadsToAll === true

const followedPushes = new WeakMap<QuarantinedRepository, Map<string, ReturnType<typeof follow>>>()

/** As `follow`, once for the check of its objects and for that of large files. */
function followed(quarantine: QuarantinedRepository, tips: readonly Oid[]): ReturnType<typeof follow> {
  const known = followedPushes.get(quarantine) ?? new Map<string, ReturnType<typeof follow>>()
  followedPushes.set(quarantine, known)
  const key = tips.join()
  const push = known.get(key) ?? follow(quarantine, tips)
  known.set(key, push)
  return push
}

/**
 * Follows the tips of a push. `undefined` if only git can: the push is large, or refers to objects that are not in the latest commits
 * of the branches, such as a file that was moved.
 */
async function follow(quarantine: QuarantinedRepository, tips: readonly Oid[]): Promise<SmallPush | undefined> {
  const { base } = quarantine
  const objects = await objectsIn(quarantine)
  const branches = objects && (await readRefFiles(base, 'refs/heads', { broken: 'omit' }))
  if (!branches || branches === 'ask') return undefined
  const push = new SmallPush(base, objects, new Set(branches.map(({ oid }) => oid)))
  return (await push.follow(tips)) ? push : undefined
}

class SmallPush {
  readonly #base: Repository
  readonly #objects: ReadonlyMap<string, PushedObject>
  readonly #branchTips: ReadonlySet<Oid>
  readonly #found = new Set<string>()
  readonly #blobs = new Set<Buffer>()
  readonly #compared = new Set<string>()
  readonly #byName = new Map<Oid, ReadonlyMap<string, TreeEntry>>()
  /** Entries of all trees that were read. */
  #entries = 0
  #sought = 0

  constructor(base: Repository, objects: ReadonlyMap<string, PushedObject>, branchTips: ReadonlySet<Oid>) {
    this.#base = base
    this.#objects = objects
    this.#branchTips = branchTips
  }

  /** The blobs found that could be pointers. */
  get blobs(): readonly Buffer[] {
    return [...this.#blobs]
  }

  /** Whether each object of the push was found. */
  get leadsToAll(): boolean {
    return this.#found.size === this.#objects.size
  }

  /** False if only git can tell whether anything is missing. */
  async follow(tips: readonly Oid[]): Promise<boolean> {
    const open = [...tips]
    const seen = new Set<Oid>()
    for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
      if (seen.has(oid)) continue
      seen.add(oid)
      if (this.#branchTips.has(oid)) continue
      const tagged = this.#tagged(oid)
      if (tagged) {
        if (tagged.type !== (this.#objects.get(tagged.oid)?.type ?? 'commit')) return false
        open.push(tagged.oid)
        continue
      }
      const commit = this.#commit(oid)
      if (!commit) {
        if (await this.#isOfBranch(oid)) continue
        return false
      }
      // A tag of a commit is no parent.
      if (commit.parents.some((parent) => (this.#objects.get(parent)?.type ?? 'commit') !== 'commit')) return false
      open.push(...commit.parents)
      const parent = commit.parents[0]
      const before = parent && (this.#commit(parent) ?? (await readCommit(this.#base, parent)))
      if (parent && !before) return false
      if (!(await this.#compare(commit.tree, before?.tree))) return false
    }
    return true
  }

  #object(oid: Oid): PushedObject | undefined {
    const object = this.#objects.get(oid)
    if (object) this.#found.add(oid)
    return object
  }

  /** What a new annotated tag of a commit, or of such a tag, says that it refers to. */
  #tagged(oid: Oid): { readonly oid: Oid; readonly type: string } | undefined {
    const found = this.#object(oid)
    const text = found?.type === 'tag' ? found.content?.toString('latin1', 0, 70) : undefined
    const [, target = '', type = ''] = /^object ([0-9a-f]{40})\ntype (commit|tag)\n/.exec(text ?? '') ?? []
    const parsed = parseOid(target)
    return parsed && { oid: parsed, type }
  }

  /** Whether a branch has the commit in its history, with all that it leads to. False if only git can tell. */
  async #isOfBranch(oid: Oid): Promise<boolean> {
    const tips = [...this.#branchTips]
    if (++this.#sought > maxSought) return false
    return tips.length <= maxBranches && (await isWithin(this.#base, oid, tips)) === true
  }

  #commit(oid: Oid): { tree: Oid; parents: readonly Oid[] } | undefined {
    const found = this.#object(oid)
    return found?.type === 'commit' && found.content ? parseCommit(oid, found.content) : undefined
  }

  /** Collects the blobs of a tree that the earlier one lacks. False if the tree has others that are not of this push. */
  async #compare(tree: Oid, before: Oid | undefined): Promise<boolean> {
    const pair = `${tree} ${before}`
    if (tree === before || this.#compared.has(pair)) return true
    this.#compared.add(pair)
    const entries = this.#newEntries(tree)
    if (!entries) return false
    const old = before && (await this.#entriesByName(before))
    if (!this.#hasRoomFor(entries)) return false
    for (const { name, type, mode, oid } of entries) {
      const was = old?.get(name)
      if (type === 'commit') continue
      if (was?.oid === oid && was.type === type) {
        // Git may check what a new link points to.
        if (mode === symbolicLink && was.mode !== symbolicLink) return false
        continue
      }
      const object = this.#object(oid)
      if (object?.type !== type) return false
      if (type === 'blob') {
        if (object.content) this.#blobs.add(object.content)
      } else if (!(await this.#compare(oid, was?.type === 'tree' ? was.oid : undefined))) return false
    }
    return true
  }

  #newEntries(tree: Oid): readonly TreeEntry[] | undefined {
    const found = this.#object(tree)
    return found?.type === 'tree' && found.content ? parseTree(found.content) : undefined
  }

  /** Those of a tree, which are looked up once for each tree; none beyond the limit, so that git is asked. */
  async #entriesByName(tree: Oid): Promise<ReadonlyMap<string, TreeEntry>> {
    const known = this.#byName.get(tree)
    if (known) return known
    const entries = this.#newEntries(tree) ?? (await readTree(this.#base, tree)) ?? []
    const byName = new Map(this.#hasRoomFor(entries) ? entries.map((entry) => [entry.name, entry]) : [])
    this.#byName.set(tree, byName)
    return byName
  }

  #hasRoomFor({ length }: readonly TreeEntry[]): boolean {
    this.#entries += length
    return this.#entries <= maxEntries
  }
}

const read = new WeakMap<QuarantinedRepository, ReturnType<typeof readQuarantine>>()

/** Spares reading the objects of a push from the files in quarantine. */
export function knowObjects(quarantine: QuarantinedRepository, objects: readonly NewObject[]): void {
  const known = objects.map(({ oid, type, content }): [Oid, PushedObject] => [
    oid,
    { type, content: type === 'blob' && content.length > maxPointerBytes ? undefined : content },
  ])
  read.set(quarantine, Promise.resolve(new Map(known)))
}

/** Read once: all objects of the push are there before it is decided on. */
function objectsIn(quarantine: QuarantinedRepository): ReturnType<typeof readQuarantine> {
  const known = read.get(quarantine) ?? readQuarantine(quarantine.objectDir)
  read.set(quarantine, known)
  return known
}

/** The objects of the push by id; `undefined` if there are many, or packed ones. */
async function readQuarantine(folder: string): Promise<Map<string, PushedObject> | undefined> {
  const paths: { oid: string; path: string }[] = []
  for (const name of await readdir(folder)) {
    const files = await namesIn(join(folder, name))
    if (name === 'pack' && files.length > 0) return undefined
    if (!/^[0-9a-f]{2}$/.test(name)) continue
    for (const file of files) paths.push({ oid: name + file, path: join(folder, name, file) })
    if (paths.length > maxObjects) return undefined
  }
  const objects = new Map<string, PushedObject>()
  let bytes = 0
  for (const { oid, path } of paths) {
    const object = await readLoose(path, maxContentBytes - bytes)
    if (!object) return undefined
    bytes += object.content?.length ?? 0
    objects.set(oid, object)
  }
  return objects
}

async function readLoose(path: string, maxBytes: number): Promise<PushedObject | undefined> {
  const { compressed, isWhole } = await readStart(path)
  const head = inflateSync(compressed.subarray(0, headBytes), { finishFlush: constants.Z_SYNC_FLUSH })
  const found = looseHeader.exec(head.toString('latin1', 0, 40))
  if (!found) return undefined
  const [header, type, size] = found as unknown as [string, ObjectType, string]
  if (type === 'blob' && Number(size) > maxPointerBytes) return { type, content: undefined }
  if (!isWhole || Number(size) > maxBytes) return undefined
  const whole = inflateSync(compressed, { maxOutputLength: header.length + Number(size) + 1 })
  return { type, content: whole.subarray(header.length) }
}

async function readStart(path: string): Promise<{ compressed: Buffer; isWhole: boolean }> {
  await using file = await open(path)
  const { size } = await file.stat()
  if (size <= maxFileBytes) return { compressed: await readFile(file), isWhole: true }
  const compressed = Buffer.alloc(headBytes)
  await file.read(compressed, 0, headBytes, 0)
  return { compressed, isWhole: false }
}
