import type { Oid } from '../format/oid.ts'
import { objectContent } from '../objects/cat-file.ts'
import { listHere } from '../objects/tree-listing.ts'
import type { Repository } from '../repository/repository.ts'
import { areComparable, Comparison, maxSketchedBytes, sketchOf } from './sketch.ts'
import { isSameId } from './sketch-file.ts'
import { readSketch, Sketches } from './sketches.ts'

/** Limits of what is compared in this process. */
const maxFiles = 50_000
const maxMissing = 500

/**
 * Paths of the files in a tree that git may take for the origin of the file `blob`, because half of one may come from the other;
 * all others are certainly not similar enough. `undefined` if git has to compare all: there are too many files, or too many
 * without a sketch. Some ten round trips for a tree that was not listed before; no process.
 */
export async function similarFiles(repo: Repository, tree: Oid, blob: Oid): Promise<readonly string[] | undefined> {
  const [found, files] = await Promise.all([
    repo.objects().then((objects) => objectContent(objects, blob, maxSketchedBytes)),
    listHere(repo, tree, maxFiles),
  ])
  const sketch = found?.content && sketchOf(found.content)
  if (!sketch || blob.length !== 40 || !files || files.length > maxFiles) return undefined
  await using known = await Sketches.open(repo)
  const id = Buffer.from(blob, 'hex')
  const comparison = new Comparison(sketch, found.sizeBytes)
  const similar = new Set<number>()
  const missing: { oid: string; index: number }[] = []
  /** Files by their place among the sketches; several may have the same content. */
  const comparable = new Map<number, number[]>()
  files.forEachFile((ids, at, index) => {
    const place = known.index.find(ids, at)
    if (isSameId(id, 0, ids, at)) similar.add(index)
    else if (place < 0) missing.push({ oid: ids.toString('hex', at, at + id.length), index })
    else if (areComparable(known.index.blobBytes(place), found.sizeBytes))
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

const none = new Uint16Array()
