import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { enqueue } from '../../../jobs/job.ts'
import { capitalized } from '../../../kernel/capitalized.ts'
import { conflict, Failure, forbidden, invalid, invalidFields, notFound } from '../../../kernel/failure.ts'
import { guardUrl } from '../../instance/index.ts'
import { findImportState, type ImportStateRow, saveImportReport, scheduleImport } from '../../lifecycle/index.ts'
import {
  mayCreateProjects,
  type NamespaceWithLevel,
  namespaceToFill,
  personalNamespaceOf,
} from '../../namespaces/index.ts'
import {
  createProject,
  loadProject,
  lockProject,
  type ProjectInput,
  type ProjectSubject,
  requireUnprotected,
} from '../../projects/index.ts'
import { looksLikeArchive } from '../archive/unpack.ts'
import { downloadPurpose, downloadRules } from './download.ts'
import { importArchive, replacedIsGone } from './jobs.ts'
import { insertArchiveImport } from './queries.ts'

export type ImportInput = {
  readonly path: string
  readonly namespace?: number | string | undefined
  readonly name?: string | undefined
  readonly overwrite: boolean
  /** Attributes that win over those of the archive. */
  readonly override_params?: (ProjectInput & { readonly default_branch?: string | undefined }) | undefined
}

/** Throws 403 if an administrator has disabled imports of archives. */
export function requireArchiveImports({ settings }: Ctx): void {
  if (!settings.import_sources.includes('gitlab_project')) throw forbidden()
}

/** Stores an uploaded archive; throws `invalid` for a file that cannot be one. */
export async function acceptArchive(ctx: Ctx, file: UploadedFile): Promise<Digest> {
  if (!(await looksLikeArchive(file.path))) throw invalid('The file is invalid')
  return (await ctx.blobs.put(createReadStream(file.path))).digest
}

/** Where the bytes of an archive are: in the blob store, or still at a URL, encrypted for the import. */
export type ArchiveSource = { readonly digest: Digest } | { readonly seal: (importId: number) => string }

/** Checks the URL of an archive. Throws `invalid` if it is blocked. */
export async function acceptRemote(ctx: Ctx, url: string): Promise<ArchiveSource> {
  const guarded = await guardUrl(ctx, url, downloadRules)
  if ('blocked' in guarded) throw invalidFields({ url: [`is blocked: ${guarded.blocked}`] })
  return { seal: (importId) => ctx.secrets.seal(url, downloadPurpose(importId)) }
}

/** Creates the project that an archive becomes, and the job that fills it. */
export async function startImport(
  ctx: Ctx,
  { path, namespace, name, overwrite, override_params: given = {} }: ImportInput,
  source: ArchiveSource,
): Promise<{ readonly project: ProjectSubject; readonly state: ImportStateRow }> {
  let state: ImportStateRow | undefined
  const target = await targetOf(ctx, namespace)
  const userId = ctx.actor!.id
  const { name: _name, path: _path, default_branch: defaultBranch, ...chosen } = given
  const replaced = overwrite ? await replacedProject(ctx, `${target.full_path}/${path}`) : undefined
  // Until the import is complete, the new project is beside the one that it replaces.
  const suffix = `-${randomBytes(8).toString('hex')}`
  // A path may begin as no name may.
  const isRenamed = replaced !== undefined && name !== undefined && name !== replaced.name
  const beside = replaced && {
    path: `${path.slice(0, 200)}${suffix}`,
    name: isRenamed ? name : `${[...replaced.name].slice(0, 200).join('')}${suffix}`,
  }
  const attributes = {
    ...chosen,
    visibility: withinGroup(chosen.visibility ?? 'private', target),
    ...(beside ?? { path, name: name ?? path }),
    namespace_id: target.id,
  }
  const { id } = await createProject(ctx, attributes, userId, async (tx, projectId) => {
    if (replaced && !(await lockProject(tx, replaced.id))) throw conflict(replacedIsGone)
    const storage = await scheduleImport(tx, projectId, { actorId: userId })
    await insertArchiveImport(
      tx,
      { of: 'project', id: projectId },
      {
        userId,
        digest: 'digest' in source ? source.digest : null,
        seal: 'seal' in source ? source.seal : undefined,
        chosen: [...Object.keys(chosen), ...(isRenamed ? ['name'] : [])],
        replacesId: replaced?.id ?? null,
      },
    )
    await saveImportReport(tx, projectId, { type: 'gitlab_project' })
    await enqueue(tx, importArchive, {
      projectId,
      storage,
      ...(replaced && { replacesId: replaced.id }),
      ...(defaultBranch !== undefined && { defaultBranch }),
    })
    // Before the job can have begun.
    state = await findImportState(tx, projectId)
  }).catch(asSentence)
  return { project: (await loadProject(String(id), ctx))!, state: state! }
}

/** As that of an archive, a chosen visibility is lowered to that of the group. */
const withinGroup = (visibility: Visibility, target: NamespaceWithLevel): Visibility =>
  target.kind === 'group' && visibilities[visibility] > target.visibility
    ? visibilityName(target.visibility)
    : visibility

/** The project at a path that an import replaces, which the caller must be allowed to delete; undefined if there is none. */
async function replacedProject(ctx: Ctx, fullPath: string): Promise<ProjectSubject | undefined> {
  const found = await loadProject(fullPath, ctx)
  if (!found || found.full_path.toLowerCase() !== fullPath.toLowerCase()) return undefined
  if (!allows(projectPolicy.remove_project, ctx.actor, found.facts)) throw forbidden()
  requireUnprotected(ctx)
  return found
}

/** The namespace that gets an imported project: by default that of the caller. */
export async function targetOf(ctx: Ctx, name: number | string | undefined): Promise<NamespaceWithLevel> {
  const actor = ctx.actor!
  const found =
    name === undefined ? await personalNamespaceOf(ctx.db, actor, actor.id) : await namespaceToFill(ctx, name)
  if (!found) throw notFound('Namespace')
  if (!mayCreateProjects(actor, found)) throw invalid('Namespace is not valid')
  return found
}

/** Compat: the answer has the first sentence only. */
export function asSentence(error: unknown): never {
  if (error instanceof Failure && error.kind === 'invalid' && error.fields) {
    const [field, violations] = Object.entries(error.fields).find(([, each]) => each.length > 0) ?? []
    if (field !== undefined) throw invalid(`${sentenceCase(field)} ${violations![0]}`)
  }
  throw error
}

const sentenceCase = (field: string): string => capitalized(field.replaceAll('_', ' '))
