import { hash } from 'node:crypto'
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { constants, inflateSync } from 'node:zlib'
import { type Oid, oidLength, parseOid } from '../format/oid.ts'
import { getCached, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { type ObjectContent, type ObjectInfo, type ObjectType, objectContent, objectInfos } from './cat-file.ts'

/** Larger files and contents are left to git, so that reading does not hold up other requests. */
const maxFileBytes = 32 * 1024
const maxContentBytes = 64 * 1024

/** Files that are read before other requests have their turn; each takes 0.3 ms at most. */
const readAtOnce = 32
let readInTurn = 0

/** What an uncompressed loose object begins with: its type and size. */
export const looseHeader = /^(commit|tree|blob|tag) (\d{1,15})\0/

const pathOf = (repo: Repository, oid: Oid) => `${repo.objectDir}/${oid.slice(0, 2)}/${oid.slice(2)}`

/** Whether an object seems to be a file of its own. What it refers to is then likely to be one, too. */
export const isLoose = (repo: Repository, oid: Oid): boolean => existsSync(pathOf(repo, oid))

/** The type of an object that is a file of its own, from the first bytes of the file; `undefined` if there is none, or it is damaged. */
export function looseType(repo: Repository, oid: Oid): ObjectType | undefined {
  let file: number | undefined
  try {
    file = openSync(pathOf(repo, oid), 'r')
    const start = startOfFile.subarray(0, readSync(file, startOfFile, 0, startOfFile.length, 0))
    const text = inflateSync(start, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1', 0, 40)
    return looseHeader.exec(text)?.[1] as ObjectType | undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Enough for the header of an object. */
const startOfFile = Buffer.alloc(256)

/**
 * Reads an object that is a file of its own, as those of small pushes and commits are until they are packed. No process.
 * `undefined` if git has to do it: the object is packed, belongs to another repository, is large, or its content is not that of its name.
 */
export async function readLooseObject(
  repo: Repository,
  oid: Oid,
): Promise<(ObjectContent & { readonly content: Buffer }) | undefined> {
  // Of a malformed commit.
  if (oid.length !== oidLength) return undefined
  const compressed = readSmallFile(pathOf(repo, oid))
  if (!compressed) return undefined
  if (++readInTurn % readAtOnce === 0) await setImmediate()
  const object = inflated(compressed)
  const found = object && looseHeader.exec(object.toString('latin1', 0, 40))
  if (!found || hash('sha1', object, 'hex') !== oid) return undefined
  const content = object.subarray(found[0].length)
  if (content.length !== Number(found[2])) return undefined
  return { oid, type: found[1] as ObjectType, sizeBytes: content.length, content }
}

/**
 * Reads an object of at most `maxBytes`, without a process: from its file, else with the shared `cat-file`. As `commit` also the one to which
 * an annotated tag refers; as `tree` also that of a commit or tag. `followed` is how many led to this one.
 */
export async function readObject(
  repo: Repository,
  oid: Oid,
  maxBytes: number,
  as?: 'commit' | 'tree',
  followed = 0,
): Promise<ObjectContent | undefined> {
  // A tag may refer to a file of any size, which git would send each time.
  if (as && getCached(repo, blobKey(oid))) return undefined
  const found = await readAny(repo, oid, maxBytes)
  if (!found || as === undefined || as === found.type) return found
  const next =
    found.type === 'tag' && mayLead(found, as)
      ? 'object '
      : found.type === 'commit' && as === 'tree'
        ? 'tree '
        : undefined
  if (next === undefined) {
    if (found.type === 'blob') setCached(repo, blobKey(oid), isBlob, 0)
    return undefined
  }
  const target = parseOid(found.content?.toString('latin1', next.length, next.length + oid.length) ?? '')
  if (target && followed < maxFollowed) return readObject(repo, target, maxBytes, as, followed + 1)
  return objectContent(await repo.objects(), `${oid}^{${as}}`, maxBytes)
}

/** Tags of tags that are followed in process. Each is a round trip; git follows the rest. */
const maxFollowed = 8

/** A tag says in its second line what it refers to. */
const mayLead = ({ content }: ObjectContent, to: 'commit' | 'tree'): boolean => {
  const type = /^object [0-9a-f]{40}\ntype ([a-z]+)\n/.exec(content?.toString('latin1', 0, 100) ?? '')?.[1]
  return type !== 'blob' && !(type === 'tree' && to === 'commit')
}

const blobKey = (oid: Oid) => `blob, not tree or commit, ${oid}`
const isBlob = {}

/** An object of whatever type. Asks git for the id alone: what git follows itself, it keeps in memory as long as its process lives. */
async function readAny(repo: Repository, oid: Oid, maxBytes: number): Promise<ObjectContent | undefined> {
  const loose = await readLooseObject(repo, oid)
  if (loose) return loose.sizeBytes <= maxBytes ? loose : { ...loose, content: undefined }
  // Most of what a push refers to is there already: readers of the repository live on.
  const before = repo.base && (await readAny(repo.base, oid, maxBytes))
  return before ?? objectContent(await repo.objects(), oid, maxBytes)
}

/** The commits that objects are or, as tags, lead to, in the order of `specs`, which are as those of `objectInfo`. One round trip; more for tags. */
export async function commitsOfObjects(repo: Repository, specs: readonly string[]): Promise<(Oid | undefined)[]> {
  const infos = await objectInfos(await repo.objects(), specs)
  const commitOf = async (info: ObjectInfo | undefined): Promise<Oid | undefined> =>
    info?.type === 'tag' ? (await readObject(repo, info.oid, maxContentBytes, 'commit'))?.oid : commitIn(info)
  return Promise.all(infos.map(commitOf))
}

const commitIn = (info: ObjectInfo | undefined) => (info?.type === 'commit' ? info.oid : undefined)

function readSmallFile(path: string): Buffer | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const { size } = fstatSync(file)
    if (size > maxFileBytes) return undefined
    const content = Buffer.allocUnsafe(size)
    return readSync(file, content, 0, size, 0) === size ? content : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function inflated(compressed: Buffer): Buffer | undefined {
  try {
    return inflateSync(compressed, { maxOutputLength: maxContentBytes })
  } catch {
    return undefined
  }
}
