import type { PortableRecord } from '../../../db/portable/relation.ts'
import type { Line } from '../records/read-records.ts'

/** The relation in which older archives have comments of commits, each with its commit. */
export const olderComments = 'commit_comments'

/** The lines of commits in the order in which comments name them first, from 1. */
class CommitLines {
  readonly #lines = new Map<unknown, number>()

  /** Undefined for a commit that was named before. */
  add(commit: unknown): number | undefined {
    if (this.#lines.has(commit)) return undefined
    this.#lines.set(commit, this.#lines.size + 1)
    return this.#lines.size
  }

  of(commit: unknown): number | undefined {
    return this.#lines.get(commit)
  }
}

async function* commitsOf(comments: AsyncIterable<Line>): AsyncGenerator<Line> {
  const lines = new CommitLines()
  for await (const { record } of comments) {
    const { commit } = record
    const line = lines.add(commit)
    if (line === undefined) continue
    yield { record: { commit, title: typeof commit === 'string' ? commit.slice(0, 8) : '' }, line, bytes: 100 }
  }
}

async function* notesOf(comments: AsyncIterable<Line>): AsyncGenerator<Line> {
  const lines = new CommitLines()
  for await (const { record, ...about } of comments) {
    const { commit, path, line, line_type, ...note } = record
    lines.add(commit)
    yield { ...about, record: { ...note, commit: lines.of(commit), ...ofLine(record) } }
  }
}

/** A comment on a line is a discussion, which can be answered. */
function ofLine({ path, line, line_type }: PortableRecord): PortableRecord {
  if (path === undefined || path === null) return {}
  return { threaded: true, changed_line: { path, line, kind: line_type } }
}

/** How the records of today's relations follow from older ones. */
export const fromOlderComments: Readonly<Record<string, (comments: AsyncIterable<Line>) => AsyncIterable<Line>>> = {
  commented_commits: commitsOf,
  commit_notes: notesOf,
}
