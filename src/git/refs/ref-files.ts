import { readFileSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { isMissing, isThere, missingAs } from '../../kernel/missing.ts'
import { type Oid, parseOid } from '../format/oid.ts'
import { compareRefNames, isRefName, type RefName } from '../format/ref-name.ts'
import { identityOf, isSettled } from '../repository/file-identity.ts'
import type { Repository } from '../repository/repository.ts'
import { PackedRefs, type RefFile } from './packed-refs.ts'

/** Reads refs as git does: loose refs first, then `packed-refs`; each file is replaced atomically by a rename. */

/** Git reads larger files, instead of keeping them in memory. Some 150,000 annotated tags. */
const maxPackedBytes = 16 * 1024 * 1024

/**
 * The current target of a ref, without peeling annotated tags; `undefined` if the ref does not exist, `'ask'` if only git can
 * tell (a symbolic ref, a very long list). Reads one or two small files: no process, no round trip.
 */
export const readRefFile = (repo: Repository, name: RefName): Oid | 'ask' | undefined =>
  readFirstRef(repo, [name])?.target

/** The first existing ref of `names` and its target, as in `readRefFile`. */
export function readFirstRef(
  repo: Repository,
  names: readonly RefName[],
): { readonly name: RefName; readonly target: Oid | 'ask' } | undefined {
  const others: RefName[] = []
  let loose: { name: RefName; target: Oid | 'ask' } | undefined
  for (const name of names) {
    const target = readLooseRef(repo, name)
    if (target !== undefined) {
      loose = { name, target }
      break
    }
    others.push(name)
  }
  if (others.length === 0) return loose
  // Read last, and once, so that it contains refs packed meanwhile.
  const packed = packedRefs(repo)
  for (const name of others) {
    const target = packed === 'ask' ? packed : packed.get(name)
    if (target !== undefined) return { name, target }
  }
  return loose
}

/** The target of a loose ref; `undefined` if it is packed or does not exist. */
export function readLooseRef(repo: Repository, name: RefName): Oid | 'ask' | undefined {
  const path = `${repo.gitDir}/${name}`
  // Cheaper than an exception, because most of these files do not exist.
  const text = isThere(path) ? readOrNothing(path)?.toString() : undefined
  return text === undefined ? undefined : (targetIn(text) ?? 'ask')
}

/** The target in the file of a ref, as git reads it: an object id, and after a space anything. */
const targetIn = (text: string): Oid | undefined => parseOid(/^[0-9a-f]+(?=\s|$)/.exec(text)?.[0] ?? '')

/** Whether the file of a ref is damaged, such as one without content. Git takes the ref for one that does not exist. */
const isBroken = (text: string): boolean => !targetIn(text) && !text.startsWith('ref:')

/** Whether the file of this ref is damaged, so that its target is unknown: a packed value would be an older one. */
export function isBrokenRef(repo: Repository, name: RefName): boolean {
  const path = `${repo.gitDir}/${name}`
  const text = isThere(path) ? readOrNothing(path)?.toString() : undefined
  return text !== undefined && isBroken(text)
}

/** Handles the error of a ref that was packed or deleted meanwhile, or whose name is now a folder of refs; throws any other. */
function noFile(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'EISDIR' && !isMissing(error)) throw error
}

function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    return noFile(error)
  }
}

/** The folders of packed refs, `refs/heads` and the like; `'ask'` if only git can tell. */
export function packedFolders(repo: Repository): ReadonlySet<string> | 'ask' {
  const packed = packedRefs(repo)
  return packed === 'ask' ? packed : packed.folders
}

/** Cached while the file is the same one: git replaces the file and never writes into it. */
function packedRefs(repo: Repository): PackedRefs | 'ask' {
  const path = `${repo.gitDir}/packed-refs`
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return isThere(`${repo.gitDir}/reftable`) ? 'ask' : PackedRefs.none
  // Git reports the damage if it is not a regular file.
  if (found.size > maxPackedBytes || !found.isFile()) return 'ask'
  const { cache } = repo.git
  const key = `${repo.cacheKey}packed-refs ${identityOf(found)}`
  const known = cache.get(key) as PackedRefs | undefined
  if (known) return known
  const file = readOrNothing(path)
  if (file === undefined) return PackedRefs.none
  const refs = PackedRefs.parse(file)
  // Git reports the damage. What can be read of a damaged file must not count as all refs: mirrors delete the others.
  if (!refs) return 'ask'
  cache.set(key, refs, { size: refs.bytes + 200 })
  return refs
}

/** The direct content of a folder of refs. */
type Folder = {
  readonly path: string
  readonly refs: readonly RefFile[]
  readonly folders: readonly string[]
  /** Names of refs whose files are damaged. */
  readonly broken: readonly RefName[]
}

/** A folder as it was read; one that is not settled may have changed since, although its modification time is the same. */
type ReadFolder = { readonly facts: string; readonly hasSettled: boolean; readonly folder: Folder }

type Listing = { readonly parts: readonly object[]; readonly refs: readonly RefFile[] }

/**
 * All refs below `refs/heads` or `refs/tags` with their targets, by name; `'ask'` if only git can tell. No process: stats each
 * folder and reads the files of changed ones. Returns the same array as long as nothing changed. With `broken: 'omit'`, the list lacks refs
 * whose files are damaged, for readers that only need refs with known targets.
 */
export async function readRefFiles(
  repo: Repository,
  below: 'refs/heads' | 'refs/tags',
  { broken = 'ask' }: { readonly broken?: 'ask' | 'omit' } = {},
): Promise<readonly RefFile[] | 'ask'> {
  // Loose refs first: a ref packed meanwhile is in the packed list before its file disappears.
  const folders = await readFolders(repo, below)
  const packed = packedRefs(repo)
  if (folders === 'ask' || packed === 'ask') return 'ask'
  const damaged = folders.flatMap((folder) => folder.broken)
  if (damaged.length > 0 && broken === 'ask') return 'ask'
  const parts = [...folders, packed]
  const key = `${repo.cacheKey}list ${below}`
  const known = repo.git.cache.get(key) as Listing | undefined
  if (known?.parts.length === parts.length && known.parts.every((part, index) => part === parts[index]))
    return known.refs
  const refs = overlay(
    packed.below(below),
    folders.flatMap((folder) => folder.refs),
    // A packed value would be an older one.
    new Set(damaged),
  )
  repo.git.cache.set(key, { parts, refs } satisfies Listing, { size: 8 * refs.length + 500 })
  return refs
}

/** Packed refs with the loose ones in their places, without those left out; each in git's order of names. */
function overlay(
  packed: readonly RefFile[],
  loose: readonly RefFile[],
  leftOut: ReadonlySet<RefName>,
): readonly RefFile[] {
  if (loose.length === 0 && leftOut.size === 0) return packed
  const sorted = loose.toSorted((one, other) => compareRefNames(one.name, other.name))
  const refs: RefFile[] = []
  let next = 0
  for (const ref of packed) {
    while (next < sorted.length && compareRefNames(sorted[next]!.name, ref.name) < 0) refs.push(sorted[next++]!)
    if (sorted[next]?.name === ref.name) refs.push(sorted[next++]!)
    else if (!leftOut.has(ref.name)) refs.push(ref)
  }
  return refs.concat(sorted.slice(next))
}

/** Branches and tags whose files are damaged. A git command for all refs fails without `--exclude` of these. */
export async function brokenRefs(repo: Repository): Promise<readonly RefName[]> {
  const folders = [await readFolders(repo, 'refs/heads'), await readFolders(repo, 'refs/tags')]
  return folders.flatMap((found) => (found === 'ask' ? [] : found.flatMap(({ broken }) => broken)))
}

/** Flags of `rev-list` that leave out what `brokenRefs` returns. They apply to the next `--all`. */
export const withoutBroken = async (repo: Repository): Promise<`--exclude=${RefName}`[]> =>
  (await brokenRefs(repo)).map((name) => `--exclude=${name}` as const)

/** Number of loose refs; each is a file to read when its folder changed. */
export async function countLooseRefs(repo: Repository): Promise<number> {
  const folders = [await readFolders(repo, 'refs/heads'), await readFolders(repo, 'refs/tags')]
  return folders.reduce((sum, found) => sum + (found === 'ask' ? 0 : countIn(found)), 0)
}

const countIn = (folders: readonly Folder[]) => folders.reduce((sum, { refs }) => sum + refs.length, 0)

async function readFolders(repo: Repository, top: string): Promise<Folder[] | 'ask'> {
  const folders: Folder[] = []
  const open = [top]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const folder = await readFolder(repo, path)
    if (folder === 'ask') return 'ask'
    if (!folder) continue
    folders.push(folder)
    for (const name of folder.folders) open.push(`${path}/${name}`)
  }
  return folders
}

/** Files read concurrently. */
const atOnce = 64

/**
 * Cached while the folder's modification time is unchanged: every ref update renames a new file into the folder. The same object as long as the
 * content is, also when it was read again: lists and their orders depend on that.
 */
async function readFolder(repo: Repository, path: string): Promise<Folder | 'ask' | undefined> {
  const place = `${repo.gitDir}/${path}`
  const found = statSync(place, { throwIfNoEntry: false })
  if (!found) return undefined
  const facts = identityOf(found)
  const key = `${repo.cacheKey}folder ${path}`
  const known = repo.git.cache.get(key) as ReadFolder | undefined
  if (known?.hasSettled && known.facts === facts) return known.folder
  const hasSettled = isSettled(found.mtimeMs)
  const entries = await readdir(place, { withFileTypes: true }).catch(missingAs([]))
  const folders: string[] = []
  const files: string[] = []
  for (const entry of entries) {
    const name = `${path}/${entry.name}`
    if (entry.isDirectory()) folders.push(entry.name)
    else if (isRefName(name)) {
      if (!entry.isFile()) return 'ask'
      files.push(name)
    }
  }
  const refs: RefFile[] = []
  const broken: RefName[] = []
  for (let at = 0; at < files.length; at += atOnce)
    for (const ref of await Promise.all(files.slice(at, at + atOnce).map((name) => readLoose(repo, name)))) {
      if (ref === 'ask') return 'ask'
      if (typeof ref === 'string') broken.push(ref)
      else if (ref) refs.push(ref)
    }
  const read: Folder = { path, refs, folders, broken }
  const folder = known && isSame(known.folder, read) ? known.folder : read
  repo.git.cache.set(key, { facts, hasSettled, folder } satisfies ReadFolder, { size: 250 * refs.length + 500 })
  return folder
}

const isSame = (one: Folder, other: Folder): boolean =>
  areSame(one.refs, other.refs, (left, right) => left.name === right.name && left.oid === right.oid) &&
  areSame(one.folders, other.folders) &&
  areSame(one.broken, other.broken)

const areSame = <T>(
  one: readonly T[],
  other: readonly T[],
  isEqual = (left: T, right: T): boolean => left === right,
): boolean => one.length === other.length && one.every((each, index) => isEqual(each, other[index]!))

/** The name of a ref whose file is damaged. */
async function readLoose(repo: Repository, name: string): Promise<RefFile | RefName | 'ask' | undefined> {
  const text = await readFile(`${repo.gitDir}/${name}`, 'utf8').catch(noFile)
  if (text === undefined) return undefined
  const oid = targetIn(text)
  if (oid) return { name: name as RefName, oid }
  return isBroken(text) ? (name as RefName) : 'ask'
}
