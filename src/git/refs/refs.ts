import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { syncFolders } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { nullOid, type Oid } from '../format/oid.ts'
import { branchName, type RefName } from '../format/ref-name.ts'
import { type ObjectType, objectInfo } from '../objects/cat-file.ts'
import type { Repository } from '../repository/repository.ts'
import { removeStaleLocks } from '../repository/stale-locks.ts'
import { isDiskFull } from '../runner/git-error.ts'
import { HelperDeath, type Question } from '../runner/helper.ts'
import { Inbox } from '../runner/inbox.ts'
import { moveLooseRef } from './loose-ref.ts'
import { readRefFile, readRefFiles } from './ref-files.ts'
import { creationTimes } from './ref-objects.ts'

/** A failure after which it is certain that no ref has moved. */
export class NothingMoved extends Failure {}

/** `to: null` deletes. `from` is what the ref must be now; leave it out to not care. */
export type RefUpdate = { readonly name: RefName; readonly to: Oid | null; readonly from?: Oid | 'absent' }

const attempts = 3
/** Transactions of more refs have a process of their own. */
export const manyRefs = 500
const manyRefsMs = 30 * 60_000
const staleLockMs = 30 * 60_000

/**
 * Moves refs, all or none, by compare-and-swap. Returns `stale`, having moved nothing, when some ref is not where `from`
 * says it should be. What moved survives a power loss. Throws `NothingMoved`: `conflict` when a new name runs into an existing one (`a` and `a/b`),
 * `unprocessable` when `to` is no object of the repository, `unavailable` when another process holds a lock for too long.
 * After any other error the refs may have moved, all or some of them. A branch that moves on from where it was is moved here;
 * else one round trip to a long-lived `update-ref`, about 1 ms with its fsync.
 */
export async function updateRefs(repo: Repository, updates: readonly RefUpdate[]): Promise<'moved' | 'stale'> {
  if (updates.length === 0) return 'moved'
  const outcome = await move(repo, updates)
  // Neither git nor we have synced the folders yet. Without that a power loss undoes what a client was told.
  if (outcome === 'moved') await syncRefs(repo, updates)
  return outcome
}

/**
 * Makes moves of refs survive a power loss: git syncs the file of a ref, and neither its name nor its removal. `to: null` for
 * those that were deleted. One fsync for each folder of refs, all at once.
 */
export const syncRefs = (repo: Repository, moved: readonly Pick<RefUpdate, 'name' | 'to'>[]): Promise<void> =>
  syncFolders([
    ...moved.flatMap(({ name }) => foldersToSync(name)).map((folder) => `${repo.gitDir}/${folder}`),
    // A packed ref is deleted from the list of them.
    ...(moved.some(({ to }) => to === null) ? [repo.gitDir] : []),
  ])

/** From the folder of a ref up to one that every repository has from its beginning. */
function foldersToSync(name: RefName): string[] {
  const folders: string[] = []
  for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === 'refs/heads' || folder === 'refs/tags') break
  }
  return folders
}

async function move(repo: Repository, updates: readonly RefUpdate[]): Promise<'moved' | 'stale'> {
  const outcome = updates.length === 1 ? await moveAlone(repo, updates[0]!) : undefined
  if (outcome) return outcome
  // A helper is not to be silent for as long as many refs take, nor are the refs of others to wait for them.
  const ask = updates.length > manyRefs ? askOnce : askHelper
  for (let attempt = 1; ; attempt++) {
    // A failed transaction costs a process, so the usual reason is looked at first. Only `update-ref`, which holds the
    // locks, has the last word.
    if (await isStale(repo, updates)) return 'stale'
    const transaction = new RefTransaction(updates)
    try {
      await ask(repo, transaction)
      return 'moved'
    } catch (error) {
      if (!(error instanceof HelperDeath)) throw error
      // Outcomes are read from the state of the repository, not from git's English.
      if (transaction.isPrepared) {
        if (await haveMoved(repo, updates)) return 'moved'
        throw new Failure('unavailable', 'The references were changed in part', { cause: error })
      }
      if (await isStale(repo, updates)) return 'stale'
      for (const failure of (await impossibleUpdates(repo, updates)).values()) throw failure
      if (isDiskFull(error.exit.stderr))
        throw new NothingMoved('storage_full', 'Insufficient Storage', { cause: error })
      // What is left is a lock that somebody else held for too long.
      if ((await removeStaleLocks(repo, { olderThanMs: staleLockMs })) > 0) continue
      if (attempt === attempts)
        throw new NothingMoved('unavailable', 'The reference is being changed by another process', { cause: error })
      await sleep(20 * attempt * Math.random())
    }
  }
}

const updateRef = { flags: ['--no-deref', '-z', '--stdin'] } as const

const askHelper = async (repo: Repository, transaction: RefTransaction): Promise<true> =>
  (await repo.helper('update-ref', 'update-ref', updateRef)).ask(transaction)

/** Asks a process of its own, which may take its time. Rejects as the helper does. */
async function askOnce(repo: Repository, transaction: RefTransaction): Promise<void> {
  const child = await repo.start('update-ref', {
    ...updateRef,
    stdin: true,
    lane: 'transfer',
    nested: true,
    timeoutMs: manyRefsMs,
  })
  child.end(transaction.request)
  const inbox = new Inbox()
  let answer: { answer: true } | undefined
  for await (const chunk of child as AsyncIterable<Buffer>) {
    inbox.push(chunk)
    answer ??= transaction.read(inbox)
  }
  const exit = await child.done
  if (!answer) throw new HelperDeath(exit)
}

/** `undefined` where it takes git. */
const moveAlone = async (repo: Repository, { name, from, to }: RefUpdate) =>
  to === null || from === undefined || from === 'absent' ? undefined : moveLooseRef(repo, { name, from, to })

const prepared = Buffer.from('start: ok\nprepare: ok\n')
const moved = Buffer.concat([prepared, Buffer.from('commit: ok\n')])

/** `prepare` takes every lock and checks every old value before `commit` writes anything. */
class RefTransaction implements Question<true> {
  readonly request: Buffer
  #isPrepared = false

  constructor(updates: readonly RefUpdate[]) {
    const steps = updates.map(({ name, to, from }) => {
      const old = from === 'absent' ? nullOid : (from ?? '')
      return to === null ? `delete ${name}\0${old}\0` : `update ${name}\0${to}\0${old}\0`
    })
    this.request = Buffer.from(`start\0${steps.join('')}prepare\0commit\0`)
  }

  /** Whether git has begun to move refs. One that ends before has moved none; one that ends after may have moved some. */
  get isPrepared(): boolean {
    return this.#isPrepared
  }

  reset(): void {
    this.#isPrepared = false
  }

  read(inbox: Inbox): { answer: true } | undefined {
    this.#isPrepared = inbox.size >= prepared.length
    if (inbox.size < moved.length) return undefined
    if (!inbox.take(moved.length).equals(moved)) throw new Error('git update-ref answered something else')
    return { answer: true }
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

const isStale = async (repo: Repository, updates: readonly RefUpdate[]): Promise<boolean> =>
  (await staleUpdates(repo, updates)).length > 0

/** The updates whose ref is not where `from` says it should be. */
export async function staleUpdates<Update extends RefUpdate>(
  repo: Repository,
  updates: readonly Update[],
): Promise<Update[]> {
  const expected = updates.filter(({ from }) => from !== undefined)
  const now = await readRefs(
    repo,
    expected.map(({ name }) => name),
  )
  return expected.filter(({ from }, index) => (now[index] ?? 'absent') !== from)
}

/** Whether the refs are where they were to go: after a process was killed, nobody else can say whether it had finished. */
async function haveMoved(repo: Repository, updates: readonly RefUpdate[]) {
  const now = await readRefs(
    repo,
    updates.map(({ name }) => name),
  )
  return updates.every(({ to }, index) => (now[index] ?? null) === to)
}

/**
 * The updates that can never work, whoever holds a lock, each with its failure: `unprocessable` or `conflict`. Of two new names
 * that collide the first is possible.
 */
export async function impossibleUpdates(
  repo: Repository,
  updates: readonly RefUpdate[],
): Promise<ReadonlyMap<RefName, NothingMoved>> {
  const impossible = new Map<RefName, NothingMoved>()
  const objects = await repo.objects()
  const added = updates.filter(({ to }) => to !== null)
  const infos = await Promise.all(added.map(({ to }) => objectInfo(objects, to!)))
  for (const [index, { name, to }] of added.entries()) {
    const type = infos[index]?.type
    if (type === undefined) impossible.set(name, new NothingMoved('unprocessable', `The object ${to} does not exist`))
    else if (type !== 'commit' && branchName(name) !== undefined)
      impossible.set(
        name,
        new NothingMoved('unprocessable', `The object ${to} is a ${type}, and a branch points to a commit`),
      )
  }
  const deleted = new Set(updates.filter(({ to }) => to === null).map(({ name }) => name))
  const names = new Set<string>()
  // Each folder with one of the names below it.
  const folders = new Map<string, RefName>()
  const take = (name: RefName) => {
    names.add(name)
    for (const folder of foldersOf(name)) folders.set(folder, name)
  }
  for (const { name } of await listRefs(repo, 'refs/')) if (!deleted.has(name)) take(name)
  for (const { name } of added) {
    if (impossible.has(name)) continue
    const inWay = foldersOf(name).find((folder) => names.has(folder)) ?? folders.get(name)
    if (inWay === undefined) take(name)
    else
      impossible.set(
        name,
        new NothingMoved('conflict', `The reference ${name} cannot be created while ${inWay} exists`),
      )
  }
  return impossible
}

/** `refs/heads/a` and `refs/heads/a/b` of `refs/heads/a/b/c`. */
const foldersOf = (name: RefName): RefName[] => {
  const parts = name.split('/')
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/') as RefName)
}
