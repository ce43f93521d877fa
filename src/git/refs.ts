import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../kernel/failure.ts'
import { type ObjectType, objectInfo } from './cat-file.ts'
import { HelperDeath, type Question } from './helper.ts'
import { moveLooseRef } from './loose-ref.ts'
import { nullOid, type Oid } from './oid.ts'
import { readRefFile, readRefFiles } from './ref-files.ts'
import { branchName, type RefName } from './ref-name.ts'
import { creationTimes } from './ref-objects.ts'
import type { Repository } from './repository.ts'
import { removeStaleLocks } from './stale-locks.ts'

/** `to: null` deletes. `from` is what the ref must be now; leave it out to not care. */
export type RefUpdate = { readonly name: RefName; readonly to: Oid | null; readonly from?: Oid | 'absent' }

const attempts = 3
const staleLockMs = 30 * 60_000
const noRoom = /No space left on device|Disk quota exceeded|Read-only file system|couldn't write/

/**
 * Moves refs, all or none, by compare-and-swap. Returns `stale`, having moved nothing, when some ref is not where `from`
 * says it should be. Throws `Failure('conflict')` when a new name runs into an existing one (`a` and `a/b`), and
 * `Failure('unprocessable')` when `to` is no object of the repository, or there is no repository. After `Failure('unavailable')` the refs
 * may or may not have moved. A branch that moves on from where it was is moved here; else one round trip to a long-lived `update-ref`,
 * about 1 ms with its fsync.
 */
export async function updateRefs(repo: Repository, updates: readonly RefUpdate[]): Promise<'moved' | 'stale'> {
  if (updates.length === 0) return 'moved'
  const outcome = updates.length === 1 ? await moveAlone(repo, updates[0]!) : undefined
  if (outcome) return outcome
  for (let attempt = 1; ; attempt++) {
    // A failed transaction costs a process, so the usual reason is looked at first. Only `update-ref`, which holds the
    // locks, has the last word.
    if (await isStale(repo, updates)) return 'stale'
    try {
      const helper = await repo.helper('update-ref', 'update-ref', { flags: ['--no-deref', '-z', '--stdin'] })
      await helper.ask(transaction(updates))
      return 'moved'
    } catch (error) {
      if (!(error instanceof HelperDeath)) throw error
      // Outcomes are read from the state of the repository, not from git's English.
      if (error.exit.signal !== null && (await haveMoved(repo, updates))) return 'moved'
      if (await isStale(repo, updates)) return 'stale'
      await explain(repo, updates)
      // The one thing that only its words tell.
      if (noRoom.test(error.exit.stderr)) throw new Failure('storage_full', 'Insufficient Storage', { cause: error })
      // What is left is a lock that somebody else held for too long.
      if ((await removeStaleLocks(repo, { olderThanMs: staleLockMs })) > 0) continue
      if (attempt === attempts)
        throw new Failure('unavailable', 'The reference is being changed by another process', { cause: error })
      await sleep(20 * attempt * Math.random())
    }
  }
}

/** `undefined` where it takes git. */
const moveAlone = async (repo: Repository, { name, from, to }: RefUpdate) =>
  to === null || from === undefined || from === 'absent' ? undefined : moveLooseRef(repo, { name, from, to })

const moved = Buffer.from('start: ok\nprepare: ok\ncommit: ok\n')

/** `prepare` takes every lock and checks every old value before `commit` writes anything. */
function transaction(updates: readonly RefUpdate[]): Question<true> {
  const steps = updates.map(({ name, to, from }) => {
    const old = from === 'absent' ? nullOid : (from ?? '')
    return to === null ? `delete ${name}\0${old}\0` : `update ${name}\0${to}\0${old}\0`
  })
  return {
    request: Buffer.from(`start\0${steps.join('')}prepare\0commit\0`),
    reset: () => {},
    read: (inbox) => {
      if (inbox.size < moved.length) return undefined
      if (!inbox.take(moved.length).equals(moved)) throw new Error('git update-ref answered something else')
      return { answer: true }
    },
  }
}

/** Where a ref points, an annotated tag not followed; `undefined` when there is none. Reads its file, no process. */
export async function readRef(repo: Repository, name: RefName): Promise<Oid | undefined> {
  const target = readRefFile(repo, name)
  return target === 'ask' ? (await objectInfo(await repo.objects(), name))?.oid : target
}

/** Maximum number of refs that are read as files, which is faster than a git process. */
const fewRefs = 8

/** As `readRef`, for several: many in one round trip. Answers in the order of `names`. */
export async function readRefs(repo: Repository, names: readonly RefName[]): Promise<(Oid | undefined)[]> {
  if (names.length <= fewRefs) return Promise.all(names.map((name) => readRef(repo, name)))
  const objects = await repo.objects()
  return Promise.all(names.map(async (name) => (await objectInfo(objects, name))?.oid))
}

export type Ref = {
  readonly name: RefName
  readonly oid: Oid
  readonly type: ObjectType
  /** What an annotated tag stands for in the end; for other refs, `oid` again. */
  readonly target: Oid
}

export type RefOrder = 'name' | '-name' | 'updated' | '-updated' | 'version' | '-version'

const sortKeys = {
  name: '--sort=refname',
  '-name': '--sort=-refname',
  updated: '--sort=creatordate',
  '-updated': '--sort=-creatordate',
  version: '--sort=version:refname',
  '-version': '--sort=-version:refname',
} as const satisfies Record<RefOrder, string>

export type RefFilters = {
  /** Default `name`. Ties are broken by name. */
  order?: RefOrder
  limit?: number
  /** Only refs from which this commit can be reached. */
  containing?: Oid
  /** Only refs whose commit can be reached from this one: branches that are merged. */
  mergedInto?: Oid
}

/**
 * Refs at or below each of `prefixes` (`refs/heads/`), in the order asked for. One `for-each-ref` process; time grows
 * with the number of refs, and with `containing` also with the history.
 */
export async function listRefs(
  repo: Repository,
  prefixes: string | readonly string[],
  filters: RefFilters = {},
): Promise<Ref[]> {
  const lines = await forEachRef(repo, prefixes, filters, '%(refname) %(objectname) %(objecttype) %(*objectname)')
  return lines.map((line) => {
    const [name, oid, type, peeled] = line.split(' ') as [RefName, Oid, ObjectType, Oid | '']
    return { name, oid, type, target: peeled === '' || peeled === undefined ? oid : peeled }
  })
}

/** A ref and what it points to, whatever that is. */
export type RefTip = Pick<Ref, 'name' | 'oid'>

/**
 * As `listRefs`, without a look at the objects. All branches, or all tags, by name or time are read from files: no
 * process, and for as long as no ref moves no work. Do not change the array.
 */
export async function listRefTips(
  repo: Repository,
  prefixes: string | readonly string[],
  filters: RefFilters = {},
): Promise<readonly RefTip[]> {
  const { order = 'name', limit, containing, mergedInto } = filters
  if (containing === undefined && mergedInto === undefined) {
    const known = await listHere(repo, prefixes, order)
    if (known) return limit === undefined ? known : known.slice(0, Math.max(1, Math.trunc(limit)))
  }
  const lines = await forEachRef(repo, prefixes, filters, '%(refname) %(objectname)')
  return lines.map((line) => {
    const [name, oid] = line.split(' ') as [RefName, Oid]
    return { name, oid }
  })
}

const folders: Record<string, 'refs/heads' | 'refs/tags'> = { 'refs/heads/': 'refs/heads', 'refs/tags/': 'refs/tags' }

/** Lists in other orders, by the list they were made of. */
const ordered = new WeakMap<readonly RefTip[], Map<RefOrder, readonly RefTip[]>>()

/** `undefined` when only git knows. */
async function listHere(
  repo: Repository,
  prefixes: string | readonly string[],
  order: RefOrder,
): Promise<readonly RefTip[] | undefined> {
  const folder = folders[String(prefixes)]
  if (!folder || order === 'version' || order === '-version') return undefined
  const byName = await readRefFiles(repo, folder)
  if (byName === 'ask') return undefined
  if (order === 'name') return byName
  const known = ordered.get(byName)?.get(order)
  if (known) return known
  const made = order === '-name' ? byName.toReversed() : await byTime(repo, byName, order === 'updated' ? 1 : -1)
  if (made) ordered.set(byName, (ordered.get(byName) ?? new Map()).set(order, made))
  return made
}

/** The first by name comes first of those of one time. */
async function byTime(repo: Repository, refs: readonly RefTip[], direction: 1 | -1) {
  const times = await creationTimes(
    repo,
    refs.map(({ oid }) => oid),
  )
  return (
    times &&
    refs
      .map((ref, index) => ({ ref, time: times[index]! }))
      .sort((one, other) => direction * (one.time - other.time))
      .map(({ ref }) => ref)
  )
}

async function forEachRef(
  repo: Repository,
  prefixes: string | readonly string[],
  filters: RefFilters,
  format: string,
): Promise<string[]> {
  const args = [prefixes].flat()
  if (args.some((prefix) => !/^refs\/[^\x00-\x20~^:?*[\\\x7f]*$/.test(prefix)))
    throw new Error('a prefix starts with refs/ and holds no pattern')
  const { stdout } = await repo.run('for-each-ref', {
    flags: [
      `--format=${format}`,
      // The last key given is the first compared.
      '--sort=refname',
      sortKeys[filters.order ?? 'name'],
      ...(filters.limit === undefined ? [] : [`--count=${Math.max(1, Math.trunc(filters.limit))}` as const]),
      ...(filters.containing === undefined ? [] : [`--contains=${filters.containing}` as const]),
      ...(filters.mergedInto === undefined ? [] : [`--merged=${filters.mergedInto}` as const]),
    ],
    args,
    maxOutputBytes: 512 * 1024 * 1024,
  })
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}

async function isStale(repo: Repository, updates: readonly RefUpdate[]) {
  const expected = updates.filter(({ from }) => from !== undefined)
  const now = await readRefs(
    repo,
    expected.map(({ name }) => name),
  )
  return expected.some(({ from }, index) => (now[index] ?? 'absent') !== from)
}

/** Whether the refs are where they were to go: after a process was killed, nobody else can say whether it had finished. */
async function haveMoved(repo: Repository, updates: readonly RefUpdate[]) {
  const now = await readRefs(
    repo,
    updates.map(({ name }) => name),
  )
  return updates.every(({ to }, index) => (now[index] ?? null) === to)
}

/** Throws when the update can never work, whoever holds a lock. */
async function explain(repo: Repository, updates: readonly RefUpdate[]) {
  const objects = await repo.objects()
  const added = updates.filter(({ to }) => to !== null)
  const infos = await Promise.all(added.map(({ to }) => objectInfo(objects, to!)))
  for (const [index, { name, to }] of added.entries()) {
    const type = infos[index]?.type
    if (type === undefined) throw new Failure('unprocessable', `The object ${to} does not exist`)
    if (type !== 'commit' && branchName(name) !== undefined)
      throw new Failure('unprocessable', `The object ${to} is a ${type}, and a branch points to a commit`)
  }
  const deleted = new Set(updates.filter(({ to }) => to === null).map(({ name }) => name))
  const existing = (await listRefs(repo, 'refs/')).map(({ name }) => name).filter((name) => !deleted.has(name))
  const names = new Set([...existing, ...added.map(({ name }) => name)])
  // Each folder with one of the names below it.
  const folders = new Map([...names].flatMap((name) => foldersOf(name).map((folder) => [folder, name] as const)))
  for (const { name } of added) {
    const inWay = foldersOf(name).find((folder) => names.has(folder)) ?? folders.get(name)
    if (inWay !== undefined)
      throw new Failure('conflict', `The reference ${name} cannot be created while ${inWay} exists`)
  }
}

/** `refs/heads/a` and `refs/heads/a/b` of `refs/heads/a/b/c`. */
const foldersOf = (name: RefName): RefName[] => {
  const parts = name.split('/')
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/') as RefName)
}
