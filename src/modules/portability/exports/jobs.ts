import { Type } from 'typebox'
import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import type { Holder } from '../../../db/portable/relation.ts'
import { job } from '../../../jobs/job.ts'
import { lacksRoom } from '../../../kernel/full-disk.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadGroup } from '../../groups/index.ts'
import { loadProject } from '../../projects/index.ts'
import { archiveLimits } from '../archive/limits.ts'
import { type PackedEntry, pack } from '../archive/pack.ts'
import { inWorkFolder, removeOldFolders } from '../archive/work-folder.ts'
import { tellRequester } from '../mails/mails.ts'
import { archiveName } from './filename.ts'
import { uploadPurpose } from './purpose.ts'
import {
  beginRequest,
  deleteFinished,
  deleteOldFinished,
  endRequest,
  findFinishedById,
  findRequest,
  followRequest,
  forgetAttempt,
  lockRequest,
  oldRequests,
  type RequestRow,
  saveFinished,
} from './queries.ts'
import { uploadArchive } from './upload.ts'
import { writeGroup } from './write-group.ts'
import { ProjectGone, writeProject } from './write-project.ts'

/** An export that is interrupted this often probably causes the interruption itself. */
const maxAttempts = 5

/** Exports of a project take turns. */
export const exportArchive = job({
  name: 'export_archive',
  slow: true,
  outgoing: true,
  input: Type.Object({ requestId: Type.Integer(), turn: Type.Integer() }),
  key: ({ requestId }) => `export_archive:${requestId}`,
  alone: ({ turn }) => `exports:${turn}`,
  async limits({ requestId }, ctx) {
    const request = await findRequest(ctx.db, requestId)
    if (!request) return undefined
    const { user_id: userId, sealed_url: sealed } = request
    return archiveLimits('export', {
      userId,
      url: sealed === null ? undefined : ctx.secrets.open(sealed, uploadPurpose(requestId)),
    })
  },
  attempts: 10,
  async run({ requestId }, ctx) {
    const request = await beginRequest(ctx.db, requestId)
    if (!request) return
    const subject = await subjectOf(ctx, request)
    // The project or the permission is gone.
    if (!subject) return void (await endRequest(ctx.db, requestId))
    if (request.attempts > maxAttempts) return fail(ctx, request, subject, 'The export was interrupted too often.')
    let finishedId = request.finished_id
    try {
      finishedId ??= await write(ctx, request, subject)
      if (finishedId === null) return
    } catch (error) {
      if (lacksRoom(error)) await forgetAttempt(ctx.db, requestId)
      if (lacksRoom(error) || request.attempts < maxAttempts) throw error
      ctx.log.error({ err: error, request: requestId }, 'failed to export')
      return fail(ctx, request, subject, 'The archive could not be written. The log of the server has the reason.')
    }
    if (request.sealed_url === null) return
    // Writing may have taken long.
    const now = await subjectOf(ctx, request)
    if (!now || (subject.isAdministrator && !now.isAdministrator)) return void (await endRequest(ctx.db, requestId))
    await upload(ctx, request, now, finishedId)
  },
})

type Exported = {
  readonly holder: Holder
  readonly fullPath: string
  /** The archive has what only administrators may see. */
  readonly isAdministrator: boolean
  readonly entries: (folder: string) => Promise<readonly PackedEntry[]>
}

/** What is exported, if the user may still export it. */
async function subjectOf(ctx: Ctx, request: RequestRow): Promise<Exported | undefined> {
  const requester = await asAccount(ctx, request.user_id)
  if (!requester) return undefined
  const isAdministrator = requester.actor?.admin === true
  if (request.project_id !== null) {
    const project = await loadProject(String(request.project_id), requester)
    if (!project || !allows(projectPolicy.export_project, requester.actor, project.facts)) return undefined
    return {
      holder: { of: 'project', id: project.id },
      fullPath: project.full_path,
      isAdministrator,
      entries: (folder) => writeProject(requester, project, { folder, description: request.description }),
    }
  }
  const group = await loadGroup(request.namespace_id!, requester)
  if (!group || !allows(groupPolicy.export_group, requester.actor, group.facts)) return undefined
  return {
    holder: { of: 'group', id: group.id },
    fullPath: group.full_path,
    isAdministrator,
    entries: (folder) => writeGroup(requester, group, folder),
  }
}

/** The id of the archive; null if the project was deleted meanwhile. */
async function write(
  ctx: Ctx,
  request: RequestRow,
  { holder, fullPath, isAdministrator, entries }: Exported,
): Promise<number | null> {
  const at = new Date()
  const stored = await inWorkFolder(ctx, `export-${request.id}`, async (folder) =>
    ctx.blobs.put(pack(await entries(folder))),
  ).catch((error: unknown) => {
    if (error instanceof ProjectGone) return undefined
    throw error
  })
  if (!stored) return null
  return ctx.transaction(async (tx) => {
    const follows = request.sealed_url !== null
    // Deleted with the project or the user.
    if (!(await lockRequest(tx, request.id))) return null
    const filename = archiveName(fullPath, at)
    const { digest, sizeBytes: size } = stored
    const id = await saveFinished(tx, holder, { digest, size, filename, forAdministrators: isAdministrator })
    await (follows ? followRequest(tx, request.id, id) : endRequest(tx, request.id))
    if (!follows)
      await tellRequester(
        ctx,
        tx,
        request.user_id,
        `Export of ${fullPath} is finished`,
        `The archive of ${fullPath} can be downloaded for 24 hours:`,
        `${ctx.site.url}/api/v4/${holder.of}s/${holder.id}/export/download`,
      )
    return id
  })
}

async function upload(ctx: Ctx, request: RequestRow, { fullPath }: Exported, finishedId: number): Promise<void> {
  const { sealed_url: sealed, upload_method: method, user_id: userId, id } = request
  const archive = await findFinishedById(ctx.db, finishedId)
  const failure =
    archive === undefined
      ? 'Error uploading the project. The archive has expired'
      : await uploadArchive(ctx, archive, {
          url: ctx.secrets.open(sealed!, uploadPurpose(id)),
          method: method!,
        })
  await ctx.transaction(async (tx) => {
    if (!(await endRequest(tx, id))) return
    if (failure === undefined) {
      if (archive) await deleteFinished(tx, archive.id)
      await tellRequester(
        ctx,
        tx,
        userId,
        `Export of ${fullPath} was uploaded`,
        `The archive of ${fullPath} was uploaded.`,
      )
      return
    }
    ctx.log.warn({ reason: failure, request: id }, 'failed to upload an export')
    await tellRequester(ctx, tx, userId, `Export of ${fullPath} could not be uploaded`, failure)
  })
}

const fail = (ctx: Ctx, { id, user_id: userId }: RequestRow, { fullPath }: Exported, reason: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (await endRequest(tx, id)) await tellRequester(ctx, tx, userId, `Export of ${fullPath} failed`, reason)
  })

const lifetimeHours = 24

/** Ends exports that no job will finish, because a disk was full or the process was killed too often. */
async function endOldRequests(ctx: Ctx): Promise<void> {
  for (const request of await oldRequests(ctx.db, lifetimeHours)) {
    const subject = await subjectOf(ctx, request)
    if (subject) await fail(ctx, request, subject, `It took longer than ${lifetimeHours} hours.`)
    else await endRequest(ctx.db, request.id)
  }
}

/** Deletes archives a day after they were finished; blob collection deletes their bytes. Ends exports of that age. */
export const removeOldArchives = job({
  name: 'remove_old_archives',
  input: Type.Object({}),
  key: () => 'remove_old_archives',
  attempts: 3,
  every: { cron: '15 * * * *', input: {} },
  async run(_input, ctx) {
    await inBatches((size) => deleteOldFinished(ctx.db, lifetimeHours, size))
    await endOldRequests(ctx)
    await removeOldFolders(ctx)
  },
})
