import { setImmediate as turn } from 'node:timers/promises'
import { nullOid, type Oid } from '../format/oid.ts'
import { linesOf } from '../format/records.ts'
import type { RefName } from '../format/ref-name.ts'
import { type ObjectType, objectInfo, objectInfos } from '../objects/cat-file.ts'
import type { Repository } from '../repository/repository.ts'
import { isBrokenRef, readRefFile, readRefFiles } from './ref-files.ts'
import { creationTimes } from './ref-objects.ts'

/**
 * The target of a ref, without peeling annotated tags; `undefined` if it does not exist, `Failure('unavailable')` if its file is damaged. Reads its
 * file, no process.
 */
export async function readRef(repo: Repository, name: RefName): Promise<Oid | undefined> {
  const target = await targetOf(repo, name)
  if (target === undefined && isBrokenRef(repo, name)) throw repo.damage(`target of ${name}`)
  return target
}

async function targetOf(repo: Repository, name: RefName): Promise<Oid | undefined> {
  const target = readRefFile(repo, name)
  return target === 'ask' ? (await objectInfo(await repo.objects(), name))?.oid : target
}

/** Refs read before other requests have their turn. */
const readAtOnce = 100

/**
 * Like `readRef` for several refs, in the order of `names`; one round trip for all that only git can read. The null id for a damaged file. A ref
 * whose object is lost has its target.
 */
export async function readRefs(repo: Repository, names: readonly RefName[]): Promise<(Oid | undefined)[]> {
  const found: (Oid | 'ask' | undefined)[] = []
  for (const name of names) {
    found.push(readRefFile(repo, name))
    if (found.length % readAtOnce === 0) await turn()
  }
  const asked = names.filter((_, index) => found[index] === 'ask')
  const infos = asked.length === 0 ? [] : await objectInfos(await repo.objects(), asked)
  const answers = new Map(asked.map((name, index) => [name, infos[index]?.oid]))
  return found.map((target, index) => {
    const name = names[index]!
    const oid = target === 'ask' ? answers.get(name) : target
    return oid ?? (isBrokenRef(repo, name) ? brokenTarget : undefined)
  })
}

/** The target of a ref whose file is damaged. */
export const brokenTarget = nullOid as Oid

export type Ref = {
  readonly name: RefName
  readonly oid: Oid
  readonly type: ObjectType
  /** What an annotated tag leads to, through other tags; for other refs the same as `oid`. */
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

type RefFilters = {
  /** Default `name`. Ties are broken by name. */
  order?: RefOrder
  limit?: number
  /** Only refs whose history contains this commit. */
  containing?: Oid
  /** Only refs in the history of this commit: merged branches. */
  mergedInto?: Oid
  /** What happens if files of refs are damaged: `fail` throws, `list` has them at the end with the null id, as refs whose object is lost. */
  broken?: 'omit' | 'fail' | 'list'
}

/**
 * All refs at or below each of `prefixes` (`refs/heads/`), by name. Copies are made from this list, so it fails if files of refs are damaged, or
 * their objects lost. One `for-each-ref` process.
 */
export async function listRefs(repo: Repository, prefixes: string | readonly string[]): Promise<Ref[]> {
  const fields = '%(refname) %(objectname) %(objecttype) %(*objectname) %(*objecttype)'
  const { found } = await forEachRef(repo, prefixes, { broken: 'fail' }, fields)
  const lines = found.map((line) => line.split(' ') as [RefName, Oid, ObjectType, Oid | '', ObjectType | ''])
  const peeled = await peelTagsOfTags(
    repo,
    lines.flatMap(([, oid, , , targetType]) => (targetType === 'tag' ? oid : [])),
  )
  return lines.map(([name, oid, type, target]) => ({ name, oid, type, target: peeled.get(oid) ?? (target || oid) }))
}

/** What the tags lead to. Git before 2.45 lists the first target only. One round trip, if there are any. */
async function peelTagsOfTags(repo: Repository, tags: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid | undefined>> {
  if (tags.length === 0) return new Map()
  const found = await objectInfos(
    await repo.objects(),
    tags.map((oid) => `${oid}^{}`),
  )
  return new Map(tags.map((oid, index) => [oid, found[index]?.oid]))
}

/** A ref and its unpeeled target. */
export type RefTip = Pick<Ref, 'name' | 'oid'>

/**
 * Refs at or below each of `prefixes` that match the filters, without reading their objects. All branches, or all tags, by name or time are read from
 * files: no process, and cached until a ref moves. Otherwise one `for-each-ref`, whose time grows with `containing` and `mergedInto` with the
 * history. Do not modify the array.
 */
export async function listRefTips(
  repo: Repository,
  prefixes: string | readonly string[],
  filters: RefFilters = {},
): Promise<readonly RefTip[]> {
  const { order = 'name', limit, containing, mergedInto } = filters
  const folder = folders[String(prefixes)]
  if (folder && containing === undefined && mergedInto === undefined) {
    const known = await listHere(repo, folder, order)
    if (known) return limit === undefined ? known : known.slice(0, Math.max(1, Math.trunc(limit)))
  }
  return askForTips(repo, prefixes, filters)
}

async function askForTips(
  repo: Repository,
  prefixes: string | readonly string[],
  filters: RefFilters,
): Promise<readonly RefTip[]> {
  const { found, broken } = await forEachRef(repo, prefixes, filters, '%(refname) %(objectname)')
  const tips = found.map((line) => {
    const [name, oid] = line.split(' ') as [RefName, Oid]
    return { name, oid }
  })
  return filters.broken === 'list' ? [...tips, ...broken.map((name) => ({ name, oid: brokenTarget }))] : tips
}

const folders: Record<string, 'refs/heads' | 'refs/tags'> = { 'refs/heads/': 'refs/heads', 'refs/tags/': 'refs/tags' }

/** Other orders of a list, by the list. */
const ordered = new WeakMap<readonly RefTip[], Map<RefOrder, readonly RefTip[]>>()

/** `undefined` if only git can answer. */
async function listHere(
  repo: Repository,
  folder: 'refs/heads' | 'refs/tags',
  order: RefOrder,
): Promise<readonly RefTip[] | undefined> {
  const byName = await readRefFiles(repo, folder)
  if (byName === 'ask' || order === 'name') return byName === 'ask' ? undefined : byName
  const known = ordered.get(byName)?.get(order)
  if (known) return known
  const made = await sorted(repo, byName, order, folder)
  if (made) ordered.set(byName, (ordered.get(byName) ?? new Map()).set(order, made))
  return made
}

/** Ties are broken by name. `undefined` if the refs have changed meanwhile. */
async function sorted(
  repo: Repository,
  refs: readonly RefTip[],
  order: Exclude<RefOrder, 'name'>,
  folder: 'refs/heads' | 'refs/tags',
): Promise<readonly RefTip[] | undefined> {
  if (order === '-name') return refs.toReversed()
  if (order === 'version' || order === '-version') {
    const byName = new Map(refs.map((ref) => [ref.name, ref]))
    const found = await askForTips(repo, `${folder}/`, { order })
    const same = found.flatMap(({ name, oid }) => {
      const ref = byName.get(name)
      return ref?.oid === oid ? ref : []
    })
    return same.length === refs.length && found.length === refs.length ? same : undefined
  }
  const times = await creationTimes(repo, refs, folder)
  const direction = order === 'updated' ? 1 : -1
  return refs
    .map((ref, index) => ({ ref, time: times[index]! }))
    .sort((one, other) => direction * (one.time - other.time))
    .map(({ ref }) => ref)
}

async function forEachRef(
  repo: Repository,
  prefixes: string | readonly string[],
  filters: RefFilters,
  format: string,
): Promise<{ found: string[]; broken: RefName[] }> {
  const args = [prefixes].flat()
  if (args.some((prefix) => !/^refs\/[^\x00-\x20~^:?*[\\\x7f]*$/.test(prefix)))
    throw new Error('a prefix starts with refs/ and holds no pattern')
  // Git would leave out refs that are in the part of the history that it cannot read.
  if (filters.mergedInto !== undefined) await repo.run('rev-list', { flags: ['--count'], args: [filters.mergedInto] })
  const { stdout, stderr } = await repo.run('for-each-ref', {
    flags: [
      `--format=${format}`,
      // The last sort key is the primary one.
      '--sort=refname',
      sortKeys[filters.order ?? 'name'],
      ...(filters.limit === undefined ? [] : [`--count=${Math.max(1, Math.trunc(filters.limit))}` as const]),
      ...(filters.containing === undefined ? [] : [`--contains=${filters.containing}` as const]),
      ...(filters.mergedInto === undefined ? [] : [`--merged=${filters.mergedInto}` as const]),
    ],
    args,
    maxOutputBytes: 512 * 1024 * 1024,
    // Git leaves out refs whose history it cannot read.
    strict: filters.containing !== undefined,
  })
  const broken = Array.from(stderr.matchAll(/^warning: ignoring broken ref (\S+)$/gm), ([, name]) => name as RefName)
  if (broken.length > 0 && filters.broken === 'fail') throw repo.damage(`target of ${broken[0]}`)
  return { found: linesOf(stdout, 'utf8'), broken: [...new Set(broken)] }
}
