import type { Oid } from '../format/oid.ts'
import { objectContent } from '../objects/cat-file.ts'
import { listHere } from '../objects/tree-listing.ts'
import type { Repository } from '../repository/repository.ts'
import { Comparison, maxSketchedBytes, sketchOf } from './sketch.ts'
import { isSameId } from './sketch-file.ts'
import { readSketch, Sketches } from './sketches.ts'

/** Limits of what is compared in this process. */
const maxFiles = 50_000
const maxMissing = 500

/** Maximum blobs of the whole history whose sketches are read; with more, those of one tree are fewer. */
const maxBefore = 500

/** A file that a commit with one parent added. */
type Added = { readonly commit: Oid; readonly parentTree: Oid; readonly blob: Oid }

/**
 * Paths of the files in the tree of the parent that git may take for the origin of the added file, because half of one may come from the
 * other; all others are certainly not similar enough. `undefined` if git has to compare all: there are too many files, or too many without
 * a sketch. No tree is read if nothing similar was in the history before; else some ten round trips for a tree that was not listed before.
 * No process.
 */
export async function similarFiles(
  repo: Repository,
  { commit, parentTree, blob }: Added,
): Promise<readonly string[] | undefined> {
  const found = await objectContent(await repo.objects(), blob, maxSketchedBytes)
  const sketch = found?.content && sketchOf(found.content)
  if (!sketch) return undefined
  await using known = await Sketches.open(repo)
  const id = Buffer.from(blob, 'hex')
  const comparison = new Comparison(sketch, found.sizeBytes)
  if (await isUnlikeAllBefore(known, commit, id, comparison)) return []
  const files = await listHere(repo, parentTree, maxFiles)
  if (!files || files.length > maxFiles) return undefined
  const similar = new Set<number>()
  const missing: { oid: string; index: number }[] = []
  /** Files by their place among the sketches; several may have the same content. */
  const comparable = new Map<number, number[]>()
  files.forEachFile((ids, at, index) => {
    const place = known.index.find(ids, at)
    if (isSameId(id, 0, ids, at)) similar.add(index)
    else if (place < 0) missing.push({ oid: ids.toString('hex', at, at + id.length), index })
    else if (known.index.isMaybeSimilar(place, comparison))
      comparable.set(place, [...(comparable.get(place) ?? []), index])
  })
  if (missing.length > maxMissing) return undefined
  for await (const [place, sketch] of known.of([...comparable.keys()]))
    if (comparison.maybeSimilar(known.index.blobBytes(place), sketch))
      for (const index of comparable.get(place)!) similar.add(index)
  const read = await Promise.all(missing.map(({ oid }) => readSketch(repo, oid)))
  for (const [at, blob] of read.entries()) {
    if (!blob) return undefined
    if (comparison.maybeSimilar(blob.sizeBytes, blob.sketch ?? none)) similar.add(missing[at]!.index)
  }
  return [...similar].map((index) => files.slice(index, index + 1)[0]!.path)
}

/**
 * Whether nothing in the history of the commit is similar to the blob. That is known of a commit that the sketches name as the first one with
 * the blob: all of its ancestors were there when they were written, so whatever these have is among them, of a smaller generation.
 */
async function isUnlikeAllBefore(known: Sketches, commit: Oid, id: Buffer, comparison: Comparison): Promise<boolean> {
  const place = known.index.find(id, 0)
  const introduction = place < 0 ? undefined : known.index.introduction(place)
  if (introduction?.commit !== Number.parseInt(commit.slice(0, 8), 16)) return false
  const before = await known.index.maybeSimilarBefore(introduction.generation, comparison)
  if (before.length > maxBefore) return false
  for await (const [index, sketch] of known.of(before))
    if (comparison.maybeSimilar(known.index.blobBytes(index), sketch)) return false
  return true
}

const none = new Uint16Array()
