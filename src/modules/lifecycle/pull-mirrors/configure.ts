import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { Flag, Optional, Whole } from '../../../api/params/types.ts'
import type { Tx } from '../../../db/db.ts'
import { enqueue } from '../../../jobs/job.ts'
import { forbidden, invalidFields } from '../../../kernel/failure.ts'
import { asAccount } from '../../accounts/index.ts'
import type { Destination } from '../../instance/index.ts'
import { type ProjectSubject, projectIds, saveMirror, project as subject } from '../../projects/index.ts'
import { acceptImportUrl } from '../imports/service.ts'
import { maskedUrl } from '../remotes/masked-url.ts'
import { requireMirrorsAvailable } from '../remotes/mirrors-available.ts'
import { updatePullMirror } from './jobs.ts'
import { mirrorPurpose } from './purpose.ts'
import { deletePullMirror, findMirrorUser, findSealedUrl, restartPullMirror, savePullMirror } from './queries.ts'
import { intervalSeconds } from './settle.ts'

/** Parameters of create and edit of projects that the mirror itself has; the others are settings of projects. */
export const mirrorParams = {
  mirror: Optional(
    Flag({ tier: 'starter', description: 'Pull mirror: updates the project from `import_url` regularly' }),
  ),
  mirror_user_id: Optional(
    Whole({
      ...projectIds,
      tier: 'starter',
      description:
        'User whose rights updates of the mirror have; default: the caller. Only administrators may name another user',
    }),
  ),
} as const

type MirrorInput = { readonly mirror?: boolean; readonly mirror_user_id?: number }

const blank = () => invalidFields({ import_url: ["can't be blank"] })

/** The user whose rights a mirror has. Throws if the caller may not name this one. */
async function userOf(ctx: Ctx, wanted: number | undefined, usual: number): Promise<number> {
  if (wanted === undefined || wanted === usual || wanted === ctx.actor!.id) return wanted ?? usual
  if (ctx.actor!.admin && (await asAccount(ctx, wanted))) return wanted
  throw invalidFields({ mirror_user_id: ['is invalid'] })
}

/**
 * Checks the mirror of a project that is to be created with this import URL. Returns the step that makes the project a mirror, for
 * the transaction that creates it; `undefined` if it is none.
 */
export async function acceptNewMirror(
  ctx: Ctx,
  { mirror = false, mirror_user_id }: MirrorInput,
  hasUrl: boolean,
): Promise<((tx: Tx, projectId: number, source: Destination) => Promise<void>) | undefined> {
  if (!mirror) {
    if (mirror_user_id !== undefined) throw invalidFields({ mirror_user_id: ['requires a mirror'] })
    return undefined
  }
  if (!hasUrl) throw blank()
  requireMirrorsAvailable(ctx)
  const userId = await userOf(ctx, mirror_user_id, ctx.actor!.id)
  return async (tx, projectId, source) => {
    await saveMirror(tx, projectId, { userId })
    // The import is the first update.
    await saveSource(ctx, tx, projectId, source, intervalSeconds)
  }
}

const saveSource = (ctx: Ctx, tx: Tx, projectId: number, { url }: Destination, firstInSeconds: number) =>
  savePullMirror(tx, projectId, {
    sealedUrl: ctx.secrets.seal(url.href, mirrorPurpose(projectId)),
    shownUrl: maskedUrl(url),
    firstInSeconds,
  })

/**
 * Checks a change of a project's mirror. Returns the step that applies it, for a transaction that has locked the project, and
 * resolves to the names of what it changed; `undefined` if nothing about the mirror is to change.
 */
export async function acceptMirrorChange(
  ctx: Ctx,
  project: ProjectSubject,
  { import_url, ...input }: MirrorInput & { readonly import_url?: string },
): Promise<((tx: Tx) => Promise<string[]>) | undefined> {
  if (import_url === undefined && input.mirror === undefined && input.mirror_user_id === undefined) return undefined
  const source = import_url === undefined ? undefined : await acceptImportUrl(ctx, import_url)
  return (tx) => changeMirror(ctx, tx, project, input, source)
}

async function changeMirror(
  ctx: Ctx,
  tx: Tx,
  project: ProjectSubject,
  input: MirrorInput,
  source: Destination | undefined,
): Promise<string[]> {
  const { mirror: was, mirror_user_id: current } = await findMirrorUser(tx, project.id)
  const becomes = input.mirror ?? was
  if (!becomes && source) throw invalidFields({ import_url: ['requires a mirror'] })
  if (!becomes && input.mirror_user_id !== undefined) throw invalidFields({ mirror_user_id: ['requires a mirror'] })
  if (!becomes && !was) return []
  if (!becomes) {
    await saveMirror(tx, project.id, null)
    // With its credentials, also of an archived project: a new mirror needs a new URL.
    await deletePullMirror(tx, project.id)
    return ['mirror']
  }
  if (!(await allowsNow(subject, 'admin_mirror', project.id, ctx, tx))) throw forbidden()
  requireMirrorsAvailable(ctx)
  if (!was && !source) throw blank()
  // Updates from a URL have the rights of the user who entered it.
  const usual = source || !was || current === null ? ctx.actor!.id : current
  const userId = await userOf(ctx, input.mirror_user_id, usual)
  // Compared with its credentials, which may differ even if it is shown alike.
  const isNewSource =
    source !== undefined &&
    !ctx.secrets.matches(await findSealedUrl(tx, project.id), mirrorPurpose(project.id), source.url.href)
  const changed = [
    ...(was ? [] : ['mirror']),
    ...(isNewSource ? ['import_url'] : []),
    ...(userId === current ? [] : ['mirror_user_id']),
  ]
  // Clients that send all they know must not begin an update each time, nor start a stopped mirror again.
  if (changed.length === 0) return []
  await saveMirror(tx, project.id, { userId })
  if (isNewSource) await saveSource(ctx, tx, project.id, source, 0)
  await restartPullMirror(tx, project.id)
  await enqueue(tx, updatePullMirror, { projectId: project.id })
  return changed
}
