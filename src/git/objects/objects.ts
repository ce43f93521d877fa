import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  open as openCallback,
  rename as renameCallback,
  writeFile as writeFileCallback,
  writeFileSync,
} from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate as deflateCallback, deflateSync, type ZlibOptions } from 'node:zlib'
import { syncFile, syncFolders } from '../../kernel/durable.ts'
import { isMissing, isThere } from '../../kernel/missing.ts'
import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { pathToBytes } from '../format/path-bytes.ts'
import type { Repository } from '../repository/repository.ts'
import type { ObjectType } from './cat-file.ts'

const open: (path: string, flags: string, mode: number) => Promise<number> = promisify(openCallback)
const rename = promisify(renameCallback)
const writeFile = promisify(writeFileCallback)
const deflate = promisify(deflateCallback)

/** An object that may not be stored yet; its id is computed. */
export type NewObject = { readonly oid: Oid; readonly type: ObjectType; readonly content: Buffer }

const headerOf = (type: ObjectType, content: Buffer) => Buffer.from(`${type} ${content.length}\0`)

/** Computes the id of an object without storing it. */
export const newObject = (type: ObjectType, content: Buffer): NewObject => ({
  oid: hash('sha1', Buffer.concat([headerOf(type, content), content]), 'hex') as Oid,
  type,
  content,
})

/** Maximum files written concurrently; more would only queue at the disk. */
const atOnce = 32

const maxAttempts = 5

type Place = { readonly object: NewObject; readonly folder: string; readonly path: string; readonly temporary: string }

/**
 * Stores loose objects durably and without a process, as git does: temporary files, fsync, rename. The last one is renamed
 * last: pass the object that refers to the others there. An existing object is replaced by itself and counts as new, so that
 * garbage collection keeps it. The objects stay unreachable until a ref refers to them. Throws `unprocessable` if the repository does not
 * exist. For many objects use `storeObjects` (pack.ts).
 */
export const writeObjects = (repo: Repository, objects: readonly NewObject[]): Promise<void> =>
  whileFoldersGo(repo, () => writeOnce(repo, objects))

/**
 * Runs `work`, which puts files into object folders, and retries if a folder disappeared: maintenance removes empty ones,
 * possibly between creation and use. Throws `unprocessable` if the repository is gone.
 */
export async function whileFoldersGo<T>(repo: Repository, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isMissing(error)) throw error
      if (!isThere(repo.objectDir)) throw repo.lost(error)
      if (attempt === maxAttempts) throw error
    }
  }
}

/** Makes a folder of objects. Not those above it: what is left of a removed repository would stay for ever. */
export async function makeObjectFolder(folder: string): Promise<void> {
  if (isThere(folder)) return
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function writeOnce(repo: Repository, objects: readonly NewObject[]): Promise<void> {
  const places = [...new Map(objects.map((object) => [object.oid, placeOf(repo, object)])).values()]
  const folders = [...new Set(places.map(({ folder }) => folder))]
  // The folder may have been removed again, because it is still empty.
  const putInPlace = ({ folder, temporary, path }: Place) =>
    whileFoldersGo(repo, async () => {
      await makeObjectFolder(folder)
      await rename(temporary, path)
    })
  try {
    await inBatches(
      [
        ...folders.map((folder) => () => makeObjectFolder(folder)),
        ...places.map((place) => async () => finishLoose(await writeLoose(place.temporary, place.object))),
      ],
      (begin) => begin(),
    )
    // Objects that refer to others come last.
    await inBatches(places.slice(0, -1), putInPlace)
    await inBatches(places.slice(-1), putInPlace)
  } catch (error) {
    await Promise.all(places.map(({ temporary }) => rm(temporary, { force: true })))
    throw error
  }
  // The names must be durable, too, also those of folders that others have just made.
  await syncFolders([repo.objectDir, ...folders])
}

function placeOf(repo: Repository, object: NewObject): Place {
  const folder = join(repo.objectDir, object.oid.slice(0, 2))
  const path = join(folder, object.oid.slice(2))
  // All in one folder: fewer disk blocks change than with several. Git knows this prefix and removes leftovers.
  return { object, folder, path, temporary: join(repo.objectDir, `tmp_obj_${randomUUID()}`) }
}

async function inBatches<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += atOnce) {
    const begun = all.slice(at, at + atOnce).map(work)
    try {
      await Promise.all(begun)
    } catch (error) {
      // Waits for all, so that the caller can clean up every file.
      await Promise.allSettled(begun)
      throw error
    }
  }
}

/** Below this size, compressing and writing here is faster than in another thread. Syncing always uses another thread. */
const doneHereBytes = 16 * 1024

/** Writes an object to a new file, whose content is not on the disk yet. Returns the file, which the caller closes. */
export async function writeLoose(path: string, { type, content }: NewObject): Promise<number> {
  const whole = Buffer.concat([headerOf(type, content), content])
  const options = compression(whole.length)
  const isSmall = whole.length < doneHereBytes
  const compressed = isSmall ? deflateSync(whole, options) : await deflate(whole, options)
  const file = await open(path, 'wx', 0o444)
  try {
    if (isSmall) writeFileSync(file, compressed)
    else await writeFile(file, compressed)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Makes the content of a file durable and closes it. */
export const finishLoose = (file: number): Promise<void> => syncFile(file).finally(() => closeSync(file))

/**
 * Fast compression, like git's: objects are packed soon. The window is no larger than the content, because allocating the
 * default window (256 KiB) costs more than compressing a small object.
 */
export function compression(bytes: number): ZlibOptions {
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(bytes))))
  return { level: 1, windowBits, memLevel: Math.min(8, windowBits - 7) }
}

export type NewTreeEntry = {
  /** `40000` and `040000` are equivalent. */
  readonly mode: string
  /** See `TreeEntry`. */
  readonly rawMode?: string
  readonly name: string
  readonly oid: Oid
}

/** Sort key of tree entries: directories sort as if their names ended in a slash. */
export const treeOrderKey = ({ mode, name }: Pick<NewTreeEntry, 'mode' | 'name'>): Buffer =>
  pathToBytes(/^0?40000$/.test(mode) ? `${name}/` : name)

/** A tree of entries that are already in git's order, with distinct names. */
export const treeObject = (sorted: readonly NewTreeEntry[]): NewObject =>
  newObject(
    'tree',
    Buffer.concat(
      sorted.flatMap(({ mode, rawMode = mode.replace(/^0/, ''), name, oid }) => [
        Buffer.from(`${rawMode} `),
        pathToBytes(name),
        Buffer.from(`00${oid}`, 'hex'),
      ]),
    ),
  )

/** Identity and time, or seconds since 1970, which may be beyond the range of dates; the zone is formatted as `+0200`. */
export type NewSignature = {
  readonly name: string
  readonly email: string
  readonly at: Date | number
  readonly zone?: string
}

/** A name and an address without the characters that git reserves. Git rejects an empty name. */
export const personText = ({ name, email }: Pick<NewSignature, 'name' | 'email'>): string => {
  const clean = (text: string) => text.replace(/[<>\n\0]/g, '').trim()
  return `${clean(name) || 'Unknown'} <${clean(email)}>`
}

const signature = ({ at, zone = '+0000', ...person }: NewSignature): string =>
  `${personText(person)} ${typeof at === 'number' ? at : Math.floor(at.getTime() / 1000)} ${zone}`

export type NewCommit = {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: NewSignature
  readonly committer: NewSignature
  readonly message: string
}

/** What to write with a commit of this tree: git knows the empty tree without an object, but its connectivity check needs one. */
export const emptyTreeFor = (tree: Oid): NewObject[] => (tree === emptyTreeOid ? [treeObject([])] : [])

/** Builds a commit without storing it. */
export function commitObject({ tree, parents, author, committer, message }: NewCommit): NewObject {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${signature(author)}`,
    `committer ${signature(committer)}`,
    '',
    message.replaceAll('\0', ''),
  ]
  return newObject('commit', Buffer.from(lines.join('\n')))
}

export type NewTag = {
  readonly name: string
  readonly target: Oid
  readonly targetType: ObjectType
  readonly tagger: NewSignature
  readonly message: string
}

/** Stores an annotated tag. The caller creates its ref. */
export async function writeTag(repo: Repository, { name, target, targetType, tagger, message }: NewTag): Promise<Oid> {
  const text = message.replaceAll('\0', '')
  const lines = [
    `object ${target}`,
    `type ${targetType}`,
    `tag ${name}`,
    `tagger ${signature(tagger)}`,
    '',
    text.endsWith('\n') ? text : `${text}\n`,
  ]
  const tag = newObject('tag', Buffer.from(lines.join('\n')))
  await writeObjects(repo, [tag])
  return tag.oid
}
