import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { type Oid, oidBytes } from '../format/oid.ts'
import { derivedFile, replaceDerivedFile } from '../repository/derived-files.ts'
import type { Repository } from '../repository/repository.ts'

/** Lines that a commit added and removed against its first parent. */
export type LineCount = { readonly additions: number; readonly deletions: number }

/** Changes when commits are counted in another way. */
const magic = 0x3143_4c53
const headerBytes = 12
const entryBytes = oidBytes + 8

/** Maximum commits whose lines are remembered in a repository: 56 KB. */
const maxRemembered = 2000
/** Newly counted commits from which the file is written; fewer are counted again in some milliseconds. */
const worthWriting = 20

/**
 * The lines of these commits, which must exist and be no merges. Git counts those that the file of the repository lacks in one process, some 0.4 ms
 * each, and the file is then written again for these commits; so another process, and the next call after a restart, find them there. What
 * was counted before a failure is kept.
 */
export async function lineCounts(repo: Repository, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, LineCount>> {
  const place = derivedFile(repo, 'lineCounts')
  const known = decodeLineCounts(await readFile(place).catch(() => undefined))
  const counts = new Map(oids.flatMap((oid) => (known.has(oid) ? [[oid, known.get(oid)!] as const] : [])))
  const missing = oids.filter((oid) => !counts.has(oid))
  if (missing.length === 0) return counts
  const before = counts.size
  try {
    for await (const [oid, count] of counted(repo, missing)) counts.set(oid, count)
  } finally {
    // Without the file, the answer is the same.
    if (counts.size - before >= worthWriting)
      await replaceDerivedFile(place, encodeLineCounts(counts)).catch(() => undefined)
  }
  return counts
}

/**
 * The content of a file with the counts of commits. Omits numbers that do not fit, and commits
 * without lines: git prints the same for a commit that it cannot read.
 */
export function encodeLineCounts(counts: ReadonlyMap<Oid, LineCount>): Buffer {
  const isStorable = ({ additions, deletions }: LineCount) =>
    additions + deletions > 0 && additions < 2 ** 32 && deletions < 2 ** 32
  const entries = [...counts].filter(([, count]) => isStorable(count)).slice(0, maxRemembered)
  const body = Buffer.alloc(entryBytes * entries.length)
  for (const [index, [oid, { additions, deletions }]] of entries.entries()) {
    const at = entryBytes * index
    body.write(oid, at, 'hex')
    body.writeUInt32LE(additions, at + oidBytes)
    body.writeUInt32LE(deletions, at + oidBytes + 4)
  }
  const header = Buffer.alloc(headerBytes)
  for (const [at, word] of [magic, entries.length, crc32(body)].entries()) header.writeUInt32LE(word, 4 * at)
  return Buffer.concat([header, body])
}

/** Empty for a file that is missing, damaged, or of another version. */
function decodeLineCounts(file: Buffer | undefined): Map<Oid, LineCount> {
  const counts = new Map<Oid, LineCount>()
  if (!file || file.length < headerBytes || file.readUInt32LE(0) !== magic) return counts
  const body = file.subarray(headerBytes)
  if (body.length !== entryBytes * file.readUInt32LE(4) || crc32(body) !== file.readUInt32LE(8)) return counts
  for (let at = 0; at < body.length; at += entryBytes)
    counts.set(body.toString('hex', at, at + oidBytes) as Oid, {
      additions: body.readUInt32LE(at + oidBytes),
      deletions: body.readUInt32LE(at + oidBytes + 4),
    })
  return counts
}

/** Git would flush its output after each commit. */
const unflushed = { GIT_FLUSH: '0' }

const isObjectId = /^[0-9a-f]{40}$/

/** As git counts them, with renames detected, each as soon as it is complete. One process, which prints a line or two for each commit. */
async function* counted(repo: Repository, oids: readonly Oid[]): AsyncGenerator<readonly [Oid, LineCount]> {
  const command = {
    // Without `--always`, git omits commits that change nothing.
    flags: ['--stdin', '--root', '--always', '-r', '-M', '--shortstat'],
    input: oids.map((oid) => `${oid}\n`).join(''),
    env: unflushed,
  } as const
  let oid: Oid | undefined
  let count: LineCount = { additions: 0, deletions: 0 }
  for await (const lines of repo.records('diff-tree', command, { end: '\n' }))
    for (const bytes of lines) {
      const line = bytes.toString('latin1')
      if (!isObjectId.test(line)) {
        count = { additions: numberBefore(line, 'insertion'), deletions: numberBefore(line, 'deletion') }
        continue
      }
      if (oid) yield [oid, count]
      oid = line as Oid
      count = { additions: 0, deletions: 0 }
    }
  if (oid) yield [oid, count]
}

/** In ` 3 files changed, 2 insertions(+), 1 deletion(-)`; git omits what is zero. */
const numberBefore = (line: string, word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
