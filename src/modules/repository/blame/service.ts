import type { Oid } from '../../../git/format/oid.ts'
import { decodeText } from '../../../git/format/text.ts'
import { type Blame, blameFile } from '../../../git/history/blame.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { type Commit, readCommitsWithin } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import type { FoundFile } from '../files/service.ts'
import type { BlameRow } from './entity.ts'

/** Lines from the first to the last, both inclusive, counted from 1. */
export type LineRange = { readonly start: number; readonly end: number }

/** Maximum file size; larger files are not written by hand and take git minutes. */
export const maxBlamedBytes = 8 * 1024 * 1024
/** Maximum response size. Each range repeats its commit with the message, which a crafted history can exploit. */
const maxAnswerBytes = 32 * 1024 * 1024
const maxLines = 500_000
/** Bytes of a range without its message and lines. */
const rangeBytes = 400

/**
 * The lines of a file by the commits that wrote them, in order. One `blame` process the first time, then cached at two
 * round trips. Throws `too_large` for large files and responses.
 */
export async function blameRows(repo: Repository, file: FoundFile, wanted?: LineRange): Promise<BlameRow[]> {
  if (file.sizeBytes === 0) return []
  if (file.sizeBytes > maxBlamedBytes)
    throw new Failure('too_large', `File is larger than ${maxBlamedBytes} bytes, the maximum for blame`)
  const blob = await readBlob(repo, file.blob, { maxBytes: maxBlamedBytes })
  if (!blob) throw notFound('File')
  const lines = linesOf(blob.content)
  const blame = await blameFile(repo, file.commit, file.path)
  const ranges = [
    ...cut(blame, { start: wanted?.start ?? 1, end: Math.min(wanted?.end ?? lines.length, lines.length) }),
  ]
  const commits = await readBounded(
    repo,
    [...new Set(ranges.map(({ index }) => index))].map((index) => blame.commits[index]!),
  )
  let size = file.sizeBytes
  return ranges.map(({ index, first, count }) => {
    const commit = commits.get(blame.commits[index]!)!
    size += rangeBytes + commit.message.length
    if (size > maxAnswerBytes) throw answerTooLarge()
    return { commit, lines: lines.slice(first - 1, first - 1 + count) }
  })
}

const answerTooLarge = () => new Failure('too_large', 'The response is too large: request fewer lines')

async function readBounded(repo: Repository, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Commit>> {
  const { commits, cut } = await readCommitsWithin(repo, oids, maxAnswerBytes)
  if (cut) throw answerTooLarge()
  if (commits.length < oids.length) throw new Error('blame returned a commit that cannot be read')
  return new Map(commits.map((commit) => [commit.oid, commit]))
}

/** Decodes the file as a whole, so that it has one charset; this preserves newlines. */
function linesOf(content: Buffer): string[] {
  let count = 0
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) count++
  if (count > maxLines) throw new Failure('too_large', `File has more than ${maxLines} lines, the maximum for blame`)
  const lines = decodeText(content).split('\n')
  if (lines.at(-1) === '' && content.at(-1) === 10) lines.pop()
  return lines
}

/** The runs of a blame within the requested lines. */
function* cut({ runs }: Blame, { start, end }: LineRange) {
  let line = 1
  for (let at = 0; at < runs.length && line <= end; at += 2) {
    const count = runs[at + 1]!
    const first = Math.max(line, start)
    const last = Math.min(line + count - 1, end)
    if (first <= last) yield { index: runs[at]!, first, count: last - first + 1 }
    line += count
  }
}
