import { type Visibility, visibilities } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { enqueue } from '../../../jobs/job.ts'
import { notFound } from '../../../kernel/failure.ts'
import { cleanTitle } from '../../discussion/index.ts'
import { agentOf } from '../../planning/index.ts'
import { createSideRepository, removeSideRepositories } from '../../pushes/index.ts'
import type { FileChange } from './changes.ts'
import {
  countSizeOfSnippets,
  deleteIfIncomplete,
  deleteSnippet,
  insertAgent,
  insertSnippet,
  lockSnippet,
  saveAttributes,
} from './edit-queries.ts'
import { emitSnippet } from './events.ts'
import { commitFiles, holderOf } from './files.ts'
import { mentionPeople } from './mentions.ts'
import { findSnippet, type SnippetRow } from './queries.ts'
import { refreshSnippet } from './refresh.ts'
import { snippetNotFound } from './subject.ts'
import { requireValid } from './violations.ts'

export type SnippetInput = {
  readonly title: string
  readonly description?: string | null | undefined
  readonly visibility: Visibility
  readonly files: FileChange
}

/**
 * Creates a snippet of a project, or a personal one without a project. Its first commit completes it; until then no one sees it, and if
 * that fails, it does not remain.
 */
export async function createSnippet(ctx: Ctx, projectId: number | null, given: SnippetInput): Promise<SnippetRow> {
  const title = cleanTitle(given.title)
  requireValid(ctx, { ...given, title })
  const authorId = ctx.actor!.id
  const agent = agentOf(ctx)
  const attributes = { title, description: given.description ?? null, visibility: visibilities[given.visibility] }
  const id = await ctx.transaction(async (tx) => {
    const made = await insertSnippet(tx, { projectId, authorId, ...attributes })
    if (made === undefined) throw notFound('Project')
    // The insert waits for changes of the project.
    await tx.requirePermission?.()
    if (agent) await insertAgent(tx, made, authorId, agent)
    await createSideRepository(tx, holderOf(made))
    return made
  })
  try {
    await commitFiles(ctx, id, given.files, 'Initial commit')
    await refreshSnippet(ctx, id, authorId)
  } catch (error) {
    // The job after its commit may have completed it.
    await deleteIfIncomplete(ctx.db, id)
    throw error
  }
  return getSnippet(ctx, id)
}

export type SnippetEdit = {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
  readonly files?: FileChange | undefined
}

/** Changes files, then attributes. If the files cannot be changed, nothing is. A visibility that stays is not refused. */
export async function editSnippet(ctx: Ctx, { id, visibility }: SnippetRow, given: SnippetEdit): Promise<SnippetRow> {
  const title = given.title === undefined ? undefined : cleanTitle(given.title)
  const stays = given.visibility !== undefined && visibilities[given.visibility] === visibility
  requireValid(ctx, { ...given, title, visibility: stays ? undefined : given.visibility })
  const actorId = ctx.actor!.id
  if (given.files) {
    await commitFiles(ctx, id, given.files, 'Update snippet')
    await refreshSnippet(ctx, id, actorId)
  }
  await ctx.transaction(async (tx) => {
    const before = await lockSnippet(tx, id)
    if (!before) throw snippetNotFound()
    const after = {
      title: title ?? before.title,
      description: given.description === undefined ? before.description : given.description,
      visibility: given.visibility === undefined ? before.visibility : visibilities[given.visibility],
    }
    // Another request may have changed it meanwhile.
    if (after.visibility !== before.visibility) requireValid(ctx, { visibility: given.visibility })
    const changed = (['title', 'description', 'visibility'] as const).filter((name) => after[name] !== before[name])
    if (changed.length === 0) return
    await saveAttributes(tx, id, after)
    if (before.project_id !== null && changed.includes('description'))
      await mentionPeople(tx, { id, project_id: before.project_id }, actorId, after.description)
    await emitSnippet(tx, id, { kind: 'snippet_updated', actorId, changed })
  })
  return getSnippet(ctx, id)
}

/** Deletes a snippet with its notes and its repository. */
export async function removeSnippet(ctx: Ctx, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const row = await lockSnippet(tx, id)
    if (!row) throw snippetNotFound()
    await emitSnippet(tx, id, { kind: 'snippet_deleted', actorId: ctx.actor!.id })
    await deleteSnippet(tx, id)
    await countSizeOfSnippets(tx, row.project_id)
    await enqueue(tx, removeSideRepositories, {})
  })
}

/** Loads a snippet that existed a moment ago. */
async function getSnippet(ctx: Ctx, id: number): Promise<SnippetRow> {
  const row = await findSnippet(ctx.db, id)
  if (!row) throw snippetNotFound()
  return row
}
