import { availableParallelism } from 'node:os'
import type { Oid } from '../format/oid.ts'
import { objectInfos } from '../objects/cat-file.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { type ChangedFile, type ChangedFiles, changedFiles } from './changes.ts'
import { patchFlags, readPatch } from './patch-question.ts'
import { type Patches, type PatchLimits, PatchReader } from './patch-reader.ts'
import { partsOf } from './path-parts.ts'

/** Maximum output to read; git is stopped beyond it. */
const maxReadBytes = 512 * 1024 * 1024

/** Maximum processes that share one difference. */
const maxParts = Math.min(4, availableParallelism())

/** Limits of a complete difference, which memory sets: text of 20 MiB, and 500 bytes for each file. A file has the limit of the settings. */
export const completeLimits = { files: 100_000, lines: 2_000_000, bytes: 20 * 1024 * 1024 } as const

/** Larger results are not cached: a few would evict all commits and trees. */
const maxCachedBytes = 8 * 1024 * 1024

/**
 * The textual difference of two trees, in git's order of new paths; cached unless large. A small one takes three round trips to
 * long-lived processes, others a `diff-tree` process. The limits bound memory. `wide` splits a possibly large difference among
 * several processes.
 */
export async function patchesBetweenTrees(
  repo: Repository,
  from: Oid,
  to: Oid,
  limits: PatchLimits,
  { wide = false } = {},
): Promise<Patches> {
  const key = `patches ${from} ${to} ${Object.values(limits).join(' ')}`
  if (from === to) return { files: [], overflow: false }
  return memoize(
    repo,
    key,
    (repo) => make(repo, from, to, limits, wide),
    (patches) => {
      const size = sizeOf(patches)
      return size > maxCachedBytes ? undefined : size
    },
  )
}

const sizeOf = ({ files }: Patches): number => files.reduce((size, { text }) => size + 500 + memoryOf(text), 0)

/** In memory, ASCII has one byte for each character, and other text usually two. */
const memoryOf = (text: string): number => (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length)

async function make(repo: Repository, from: Oid, to: Oid, limits: PatchLimits, wide: boolean): Promise<Patches> {
  const changed = await changedFiles(repo, from, to).catch(leaveToProcess)
  const isShort = changed !== undefined && !changed.truncated && changed.files.length <= small.files
  if (isShort && (await areSmall(repo, changed.files))) {
    const found = await readPatch(repo, from, to).catch(leaveToProcess)
    if (found) {
      const reader = new PatchReader(limits, found.changes)
      return reader.finish(!reader.push(found.patch))
    }
  }
  return wide && changed ? readInParts(repo, from, to, limits, changed) : read(repo, from, to, limits)
}

/** The process reports what is wrong, or has more time than an answer of a shared process. */
const leaveToProcess = (): undefined => undefined

/** Limits of a difference that a shared process reads, because others wait meanwhile: a second for the worst of contents. */
const small = { files: 300, bytes: 2 * 1024 * 1024, fileBytes: 128 * 1024 }

/** One round trip. */
async function areSmall(repo: Repository, files: readonly ChangedFile[]): Promise<boolean> {
  const objects = await repo.objects()
  // The commit of a submodule is in another repository.
  const blobs = files.flatMap(({ oldMode, oldOid, newMode, newOid }) => [
    ...(oldOid && oldMode !== submodule ? [oldOid] : []),
    ...(newOid && newMode !== submodule ? [newOid] : []),
  ])
  const sizes = (await objectInfos(objects, blobs)).map((blob) => blob?.sizeBytes)
  let total = 0
  return sizes.every((size) => size !== undefined && size <= small.fileBytes && (total += size) <= small.bytes)
}

const submodule = '160000'

/**
 * Each part gets an equal share of the limits. If a part exceeds its share, one process reads everything, to apply the limits
 * exactly.
 */
async function readInParts(
  repo: Repository,
  from: Oid,
  to: Oid,
  limits: PatchLimits,
  { files, truncated }: ChangedFiles,
): Promise<Patches> {
  const parts = truncated ? [] : partsOf(files, maxParts)
  if (parts.length < 2) return read(repo, from, to, limits)
  const share = (most: number) => Math.floor(most / parts.length)
  const shares = { ...limits, files: share(limits.files), lines: share(limits.lines), bytes: share(limits.bytes) }
  const found = await Promise.all(parts.map((paths) => read(repo, from, to, shares, paths)))
  if (found.some(({ overflow }) => overflow)) return read(repo, from, to, limits)
  return { files: found.flatMap(({ files }) => files), overflow: false }
}

/** `paths` restricts the difference to these paths, among which there are no renames. */
async function read(
  repo: Repository,
  from: Oid,
  to: Oid,
  limits: PatchLimits,
  paths?: readonly string[],
): Promise<Patches> {
  const renames = paths ? '--no-renames' : '-M'
  const command = { flags: [...patchFlags, renames], args: [from, to], ...(paths && { paths }) } as const
  const reader = new PatchReader(limits)
  let size = 0
  for await (const chunk of repo.read('diff-tree', command)) {
    size += chunk.length
    if (!reader.push(chunk) || size > maxReadBytes) return reader.finish(true)
  }
  return reader.finish(false)
}
