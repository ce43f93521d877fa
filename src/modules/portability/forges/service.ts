import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { enqueue } from '../../../jobs/job.ts'
import { Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { withoutEnds } from '../../../kernel/without-ends.ts'
import { guardUrl } from '../../instance/index.ts'
import { endInFailureWith, findImportState, saveImportReport, scheduleImport } from '../../lifecycle/index.ts'
import { createProject, loadProject, type ProjectSubject, project as projectSubject } from '../../projects/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import { limit } from '../exports/service.ts'
import { asSentence, targetOf } from '../imports/service.ts'
import { type Access, ForgeBusy, ForgeDenial, forgeRules, getJson } from './client.ts'
import { importFromForge } from './jobs.ts'
import { adapters, type ForgeKind } from './kinds.ts'
import { PageFiles } from './pages.ts'
import { tokenPurpose } from './purpose.ts'
import { deleteForgeImport, findForgeImport, insertForgeImport } from './queries.ts'
import { objectIn } from './values.ts'

export type ForgeWish = {
  readonly forge: ForgeKind
  readonly token: string
  /** Address of the forge. */
  readonly url: string
  /** Path of the repository below the API. */
  readonly at: string
  readonly targetNamespace: string
  readonly newName: string | undefined
  readonly singleEndpointNotes: boolean
  readonly optimistic: boolean
}

/** Limit per user: each call sends a request to a server of the caller's choice. */
const starts = { hits: 30, seconds: 60 }

/** The caller waits for the first answer of the forge. */
const firstAnswerMs = 15_000

/** A project that an import fills, and where it comes from. */
export type StartedImport = {
  readonly project: ProjectSubject
  /** Name of the project with its namespace. */
  readonly fullName: string
  readonly source: string
  readonly status: string
}

async function shown(ctx: Ctx, project: ProjectSubject, source: string, status: string): Promise<StartedImport> {
  const { name_with_namespace: fullName } = await findImportState(ctx.db, project.id)
  return { project, fullName, source, status }
}

/** Creates the project that a repository of a forge becomes, and the job that fills it. Asks the forge once. */
export async function startForgeImport(ctx: Ctx, wish: ForgeWish): Promise<StartedImport> {
  const { forge, token, newName } = wish
  if (!ctx.settings.import_sources.includes(forge)) throw forbidden()
  if (!/^[\x21-\x7e]{1,1000}$/.test(token)) throw invalidFields({ personal_access_token: ['is not valid'] })
  const target = await targetOf(ctx, withoutEnds(wish.targetNamespace, '/'))
  const forgeUrl = await acceptUrl(ctx, wish.url)
  await limit(ctx, 'forge_import', starts)
  const { fullName, name } = await describe(ctx, { adapter: adapters[forge], forgeUrl, token }, wish.at)
  const userId = ctx.actor!.id
  const path = newName ?? name
  const attributes = { visibility: 'private' as const, path, name: path, namespace_id: target.id }
  const { id } = await createProject(ctx, attributes, userId, async (tx, projectId) => {
    const storage = await scheduleImport(tx, projectId, { actorId: userId })
    await insertForgeImport(tx, projectId, {
      user_id: userId,
      forge,
      forge_url: forgeUrl.href,
      repository: fullName,
      sealed_token: ctx.secrets.seal(token, tokenPurpose(projectId)),
      single_endpoint_notes: wish.singleEndpointNotes,
      optimistic: wish.optimistic,
    })
    await saveImportReport(tx, projectId, { type: forge })
    await enqueue(tx, importFromForge, { projectId, storage })
  }).catch(asSentence)
  return shown(ctx, (await loadProject(String(id), ctx))!, fullName, 'scheduled')
}

/** The address of a forge, without credentials, query and the path of its API. */
async function acceptUrl(ctx: Ctx, text: string): Promise<URL> {
  const guarded = await guardUrl(ctx, text, forgeRules)
  if ('blocked' in guarded) throw invalidFields({ url: [`is blocked: ${guarded.blocked}`] })
  const url = new URL(guarded.url)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/api\/v\d\/*$/, '')
  if (url.hostname === 'api.github.com') url.hostname = 'github.com'
  return url
}

async function describe(ctx: Ctx, access: Access, at: string) {
  const { adapter, forgeUrl } = access
  const fail = (why: string): never => {
    throw new Failure('unprocessable', `Import failed due to a ${adapter.title} error: ${why}`)
  }
  try {
    const { value } = await getJson(ctx, access, `${adapter.apiOf(forgeUrl)}${at}`, AbortSignal.timeout(firstAnswerMs))
    const given = objectIn(value)
    return (given && adapter.readRepository(given)) ?? fail('The answer describes no repository')
  } catch (error) {
    if (error instanceof ForgeBusy || error instanceof ForgeDenial || error instanceof ArchiveRefusal)
      return fail(error.message)
    throw error
  }
}

/** Ends an import that waits or runs. Throws 404 for a project that the caller may not change or that no forge fills. */
export async function cancelForgeImport(ctx: Ctx, forge: ForgeKind, projectId: number): Promise<StartedImport> {
  const project = await loadProject(String(projectId), ctx)
  if (!project || !allows(projectPolicy.admin_project, ctx.actor, project.facts)) throw notFound('Project')
  const pending = await findForgeImport(ctx.db, project.id)
  const isOver = () => new Failure('invalid', 'The import cannot be canceled: it is over')
  if (pending?.forge !== forge) throw isOver()
  await ctx.transaction(async (tx) => {
    const isEnded = await endInFailureWith(tx, project.id, 'The import was canceled.')
    // After the wait for the row of the project.
    await tx.requirePermission?.()
    if (!(await allowsNow(projectSubject, 'admin_project', project.id, ctx, tx))) throw notFound('Project')
    if (!isEnded) throw isOver()
    await deleteForgeImport(tx, project.id)
  })
  await new PageFiles(ctx, project.id).remove()
  return shown(ctx, project, pending.repository, 'canceled')
}
