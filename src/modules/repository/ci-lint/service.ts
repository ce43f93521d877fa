import type { Ctx } from '../../../api/ctx.ts'
import { decodeText } from '../../../git/format/text.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { findEntry } from '../../../git/objects/trees.ts'
import { isTooLarge, notFound } from '../../../kernel/failure.ts'
import { openRepository, type ProjectRow } from '../../projects/index.ts'
import { defaultRef, findCommitId } from '../commits/revision.ts'
import { checkPipeline } from './check.ts'
import { configPathOf } from './queries.ts'
import { invalid, type Lint, maxBytes, type ReadFile, tooLarge } from './result.ts'

const usualPath = '.gitlab-ci.yml'

/** Reads files of a project at a ref; of the default branch without one. Throws `not_found` for an unknown ref. */
export async function filesAt(ctx: Ctx, project: ProjectRow, ref: string | undefined): Promise<ReadFile> {
  const repo = openRepository(ctx, project)
  const commit = await findCommitId(repo, ref || defaultRef(project))
  if (!commit && ref) throw notFound('Commit')
  return async (path) => {
    const missing = { error: `Local file \`${path}\` does not exist!`, isMissing: true } as const
    const entry = commit && (await findEntry(repo, commit, path))
    if (entry?.type !== 'blob') return missing
    try {
      const blob = await readBlob(repo, entry.oid, { maxBytes })
      return blob ? { text: decodeText(blob.content) } : missing
    } catch (error) {
      if (isTooLarge(error)) return { error: tooLarge }
      throw error
    }
  }
}

/** Checks the configuration that a commit has at the project's path for it. */
export async function lintCommit(
  ctx: Ctx,
  project: ProjectRow,
  { ref, includeJobs }: { ref: string | undefined; includeJobs: boolean },
): Promise<Lint> {
  const path = (await configPathOf(ctx.db, project.id)) || usualPath
  const elsewhere = /^https?:|@/.test(path)
  if (elsewhere) return invalid(`The configuration \`${path}\` is not a file of this project`)
  const readFile = await filesAt(ctx, project, ref)
  const file = await readFile(path)
  if ('error' in file && !file.isMissing) return invalid(file.error)
  return checkPipeline(ctx, { text: 'text' in file ? file.text : '', includeJobs }, readFile)
}
