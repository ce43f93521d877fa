import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { missingAs, namesIn } from '../../kernel/missing.ts'
import { objectContent } from '../objects/cat-file.ts'
import { derivedFile, replaceDerivedFile } from '../repository/derived-files.ts'
import { identityOf } from '../repository/file-identity.ts'
import { getCached, memoize, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { blobKey, commitGenerations, introductionsOf } from './introductions.ts'
import { maxSketchedBytes, type Sketch, sketchOf } from './sketch.ts'
import { encodeSketches, headerBytes, objectsIn, type SketchedBlob, SketchIndex } from './sketch-file.ts'

/** Numbers of objects of repositories that get the file: git compares fewer files in a few milliseconds, and more are too much. */
const worth = { least: 5_000, most: 1_000_000 }

/** Limits of the file. A process holds 104 bytes for each blob in memory while it is used. */
const maxBlobs = 200_000
const maxNumbers = 16 * 1024 * 1024

/** Growth of a repository after which its file is written again. */
const growth = { factor: 1.05, objects: 2_000 }

/** Of an index of a pack. */
const indexBytes = { head: 1_072, perObject: 28 }

const placeOf = (repo: Repository): string => derivedFile(repo, 'sketches')

/** The sketches of a repository, in a file that is open meanwhile; none if it has no such file. */
export class Sketches implements AsyncDisposable {
  readonly index: SketchIndex
  readonly #file: FileHandle | undefined

  private constructor(index: SketchIndex, file?: FileHandle) {
    this.index = index
    this.#file = file
  }

  /** Reads the whole file once, then keeps its index. */
  static async open(repo: Repository): Promise<Sketches> {
    const place = placeOf(repo)
    for (;;) {
      const file = await openIfThere(place)
      if (!file) return new Sketches(SketchIndex.empty)
      try {
        const version = await versionOf(file)
        const read = () => readIndex(place, version)
        const index = await memoize(repo, `sketches ${version}`, read, ({ sizeBytes }) => sizeBytes)
        if (index) return new Sketches(index, file)
      } catch (error) {
        await file.close()
        throw error
      }
      // Another one has replaced it meanwhile.
      await file.close()
    }
  }

  /** As `SketchIndex.sketches`. */
  of(blobs: readonly number[]): AsyncIterable<readonly [index: number, Sketch]> {
    return this.index.sketches(this.#file!, blobs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close()
  }
}

const openIfThere = (place: string): Promise<FileHandle | undefined> => open(place).catch(missingAs(undefined))

const versionOf = async (file: FileHandle): Promise<string> => identityOf(await file.stat())

/** Undefined if the file is of another version. Deletes a damaged file, so that it is written again. */
async function readIndex(place: string, version: string): Promise<SketchIndex | undefined> {
  // A file of its own: several callers may wait for the index, and the first may close its file before.
  await using file = await openIfThere(place)
  if (!file || (await versionOf(file)) !== version) return undefined
  const index = await SketchIndex.read(file)
  if (!index) await rm(place, { force: true })
  return index ?? SketchIndex.empty
}

/** A blob that is not in the file: its size, and its sketch if it is small enough. One round trip, then cached. */
export async function readSketch(
  repo: Repository,
  oid: string,
): Promise<{ readonly sizeBytes: number; readonly sketch: Sketch | undefined } | undefined> {
  const key = `sketch ${oid}`
  const known = getCached<{ sizeBytes: number; sketch: Sketch | undefined }>(repo, key)
  if (known) return known
  const found = await objectContent(await repo.objects(), oid, maxSketchedBytes)
  if (found?.type !== 'blob') return undefined
  const made = { sizeBytes: found.sizeBytes, sketch: found.content && sketchOf(found.content) }
  setCached(repo, key, made, 200 + (made.sketch?.byteLength ?? 0))
  return made
}

/** Whether the repository is large enough for sketches and has grown since they were written. A few calls of the file system. */
export async function needsSketches(repo: Repository): Promise<boolean> {
  const objects = await countObjects(repo)
  if (objects < worth.least || objects > worth.most) return false
  const known = await objectsAtLastWrite(placeOf(repo))
  return known === undefined || objects > growth.factor * known + growth.objects
}

/** Reads only the beginning of the file. */
async function objectsAtLastWrite(place: string): Promise<number | undefined> {
  await using file = await openIfThere(place)
  if (!file) return undefined
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0)
  return bytesRead === headerBytes ? objectsIn(buffer) : undefined
}

/** The approximate number of packed objects, from the sizes of the indexes. */
async function countObjects(repo: Repository): Promise<number> {
  const folder = join(repo.gitDir, 'objects/pack')
  const names = await namesIn(folder)
  const indexes = names.filter((name) => name.endsWith('.idx'))
  const sizes = indexes.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  )
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + Math.max(0, size - indexBytes.head), 0)
  return Math.floor(bytes / indexBytes.perObject)
}

/**
 * Writes the sketches of all blobs of a repository, unless they are current; a job calls it. Lists all objects and commits, and reads the new
 * blobs: some seconds for the first 200 MB of content, little for a few more. Concurrent calls for a repository waste work.
 */
export async function writeSketches(repo: Repository): Promise<void> {
  if (!(await needsSketches(repo))) return
  const objects = await countObjects(repo)
  // Before the blobs are listed, so that all blobs of these commits are among them.
  const generations = await commitGenerations(repo)
  await using known = await Sketches.open(repo)
  const blobs: SketchedBlob[] = []
  let numbers = 0
  const add = (blob: SketchedBlob) => {
    numbers += blob.sketch?.length ?? 0
    blobs.push(blob)
  }
  const kept = new Map<number, Buffer>()
  const missing: Buffer[] = []
  for await (const id of blobIds(repo)) {
    const index = known.index.find(id, 0)
    if (index < 0) missing.push(id)
    else kept.set(index, id)
    if (kept.size + missing.length === maxBlobs) break
  }
  for await (const [index, sketch] of known.of([...kept.keys()]))
    add({ id: kept.get(index)!, sizeBytes: known.index.blobBytes(index), sketch: Uint16Array.from(sketch) })
  for (let at = 0; at < missing.length && numbers < maxNumbers; at += readAtOnce) {
    const some = missing.slice(at, at + readAtOnce)
    // Asked for each time: the process is replaced now and then.
    const cat = await repo.objects()
    const found = await Promise.all(some.map((id) => objectContent(cat, id.toString('hex'), maxSketchedBytes)))
    for (const [index, blob] of found.entries())
      if (blob) add({ id: some[index]!, sizeBytes: blob.sizeBytes, sketch: blob.content && sketchOf(blob.content) })
  }
  const hasAll = generations && blobs.length < maxBlobs && blobs.length === kept.size + missing.length
  const introductions = hasAll ? await introductionsOf(repo, generations) : undefined
  const introduced = blobs.map((blob) => ({ ...blob, introduction: introductions?.get(blobKey(blob.id)) }))
  await replaceDerivedFile(placeOf(repo), encodeSketches(objects, introduced))
}

const readAtOnce = 50

/** Binary ids of all blobs, in the order of the packs, newest pack first. One process. */
async function* blobIds(repo: Repository): AsyncGenerator<Buffer> {
  const command = {
    flags: ['--batch-all-objects', '--batch-check=%(objectname) %(objecttype)', '--unordered', '--buffer'],
    lane: 'transfer',
    background: true,
    timeoutMs: 60 * 60_000,
  } as const
  for await (const lines of repo.records('cat-file', command, { end: '\n' }))
    for (const bytes of lines) {
      const line = bytes.toString('latin1')
      if (line.endsWith(' blob')) yield Buffer.from(line.slice(0, -' blob'.length), 'hex')
    }
}
