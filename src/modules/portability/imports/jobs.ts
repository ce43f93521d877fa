import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { Tx } from '../../../db/db.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { job } from '../../../jobs/job.ts'
import { asAccount } from '../../accounts/index.ts'
import { copyHoldings } from '../../groups/index.ts'
import { endInFailure, type Filling, fillRepository, type Place, RemoteRefusal } from '../../lifecycle/index.ts'
import { lockAccess, projectPlaced } from '../../namespaces/index.ts'
import { loadProject, type ProjectSubject, projectOnBehalf, replaceProject } from '../../projects/index.ts'
import { linkAllFrom } from '../../pushes/index.ts'
import { archiveLimits } from '../archive/limits.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import { inWorkFolder, removeWorkFolder } from '../archive/work-folder.ts'
import * as entries from '../layout/names.ts'
import { tellLeftOut } from '../mails/mails.ts'
import { jsonOf } from '../records/json.ts'
import { type Converted, convertProject } from '../reference/convert-project.ts'
import { referenceTree } from '../reference/tree.ts'
import { databaseRefusal } from './database-refusal.ts'
import { downloadArchive, downloadPurpose } from './download.ts'
import { avatarIn, storeFiles } from './files.ts'
import { importProject, type Prepared, relationsFor } from './import-project.ts'
import { archiveLimit } from './limit.ts'
import { openArchive, readPeople } from './open-archive.ts'
import { checkRecords, ownRecords } from './own-records.ts'
import { type ArchiveImportRow, deleteArchiveImport, findArchiveImport, saveDownloaded } from './queries.ts'
import { fillFromBundle, fillSides, mainBranchOf, withBranchesOfForks } from './repositories.ts'

/** Imports an uploaded archive into a new project. */
export const importArchive = job({
  name: 'import_archive',
  slow: true,
  outgoing: true,
  // `replacesId` is part of it, because the row of the project may be gone when it runs.
  input: Type.Object({
    projectId: Type.Integer(),
    storage: Type.String(),
    replacesId: Type.Optional(Type.Integer()),
    defaultBranch: Type.Optional(Type.String({ description: 'Requested default branch, used if it exists' })),
  }),
  key: ({ projectId }) => `import_archive:${projectId}`,
  async limits({ projectId }, ctx) {
    const pending = await findArchiveImport(ctx.db, { of: 'project', id: projectId })
    return (
      pending &&
      archiveLimits('import', {
        userId: pending.user_id,
        url: pending.digest === null ? openAddress(ctx, pending) : undefined,
      })
    )
  },
  attempts: 10,
  async run({ replacesId = null, defaultBranch, ...place }, ctx) {
    const holder = { of: 'project', id: place.projectId } as const
    const found = await findArchiveImport(ctx.db, holder)
    const pending = found && { ...found, replaces_id: found.replaces_id ?? replacesId }
    const name = `import-${place.projectId}`
    if (!pending) {
      await removeWorkFolder(ctx, name)
      // The importer was deleted, or the import is over and this changes nothing.
      await endInFailure(ctx, place.projectId, 'The archive no longer exists')
      return
    }
    await inWorkFolder(ctx, name, (folder) => fill(ctx, place, { ...pending, defaultBranch }, folder))
    await deleteArchiveImport(ctx.db, holder)
  },
})

/** An import that waits, with the default branch that its importer chose. */
type Pending = ArchiveImportRow & { readonly defaultBranch: string | undefined }

async function fill(ctx: Ctx, place: Place, pending: Pending, folder: string): Promise<void> {
  let prepared: Prepared | undefined
  const chosen = new Set(pending.chosen)
  await fillRepository(
    ctx,
    place,
    (repo) =>
      refusing(async () => {
        const made = await prepare(ctx, place, pending, repo, folder)
        prepared = made.prepared
        return made.filling
      }),
    (tx) =>
      refusing(async () => {
        const leftOut = await importProject(ctx, tx, place.projectId, prepared!, chosen)
        // After all that takes long, and the wait for the lock of access.
        await stillPermitted(ctx, place.projectId, prepared!.importer)
        if (pending.replaces_id !== null) {
          const keepsName = chosen.has('name')
          await replace(ctx, tx, place.projectId, {
            replacedId: pending.replaces_id,
            userId: pending.user_id,
            keepsName,
          })
        }
        await deleteArchiveImport(tx, { of: 'project', id: place.projectId })
        await tellLeftOut(ctx, tx, { of: 'project', id: place.projectId, userId: pending.user_id }, leftOut)
      }),
  )
}

export const replacedIsGone = 'The project that was to be replaced no longer exists'

/** Puts the imported project into the place of another, which the importer must still be allowed to delete. */
async function replace(
  ctx: Ctx,
  tx: Tx,
  projectId: number,
  { replacedId, userId, keepsName }: { replacedId: number; userId: number; keepsName: boolean },
): Promise<void> {
  const importer = await asAccount(ctx, userId)
  const replaced = importer && (await loadProject(String(replacedId), importer))
  if (importer && !replaced) throw new ArchiveRefusal(replacedIsGone)
  if (!importer || !replaced || !allows(projectPolicy.remove_project, importer.actor, replaced.facts))
    throw new ArchiveRefusal('The importer is no longer allowed to replace the project')
  await lockAccess(tx)
  await copyHoldings(tx, replacedId, projectId)
  await linkAllFrom(tx, replacedId, projectId)
  if (!(await replaceProject(tx, projectId, replacedId, { actorId: userId, keepsName })))
    throw new ArchiveRefusal(replacedIsGone)
  await projectPlaced(tx, projectId)
}

/** Turns what the archive is to blame for into the failure that ends the import. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ArchiveRefusal) throw new RemoteRefusal(error.message)
    const sentence = databaseRefusal(error)
    if (sentence !== undefined) throw new RemoteRefusal(sentence)
    throw error
  }
}

/** Checks the archive, and stores what nothing refers to until the import is complete. */
async function prepare(
  ctx: Ctx,
  { projectId }: Place,
  pending: Pending,
  repo: Repository,
  folder: string,
): Promise<{ prepared: Prepared; filling: Filling }> {
  const { importer } = await permitted(ctx, projectId, pending.user_id)
  const opened = await openArchive(ctx, await digestOf(ctx, projectId, pending), folder)
  const { unpacked, attributes, snippetFiles, heads, leftOut } = await treeOf(opened, folder, importer)
  const records = ownRecords(unpacked, entries.relationEntry)
  await checkRecords(records, relationsFor(importer), { isAdministrator: importer.actor?.admin === true })
  const people = await readPeople(ctx, importer, unpacked)
  const bundled = await fillFromBundle(ctx, repo, unpacked, entries.bundleEntry)
  const refs = await withBranchesOfForks(repo, bundled, records, heads)
  const files = await storeFiles(ctx, unpacked)
  const avatar = await avatarIn(ctx, unpacked, 'avatar/')
  const sides = await fillSides(ctx, unpacked, { importer, files: snippetFiles })
  const chosen = pending.defaultBranch
  const comes = chosen !== undefined && refs.some(({ name }) => name === `refs/heads/${chosen}`)
  const defaultBranch = comes ? chosen : attributes['default_branch']
  return {
    prepared: { importer, attributes, records, people, files, avatar, sides, leftOut },
    filling: {
      refs,
      defaultBranch:
        typeof defaultBranch === 'string' ? defaultBranch : await mainBranchOf(unpacked, entries.bundleEntry, refs),
      bringsProtections: true,
    },
  }
}

/** The records of an archive: one of ours, or one of the reference product, converted. */
async function treeOf(unpacked: Unpacked, folder: string, importer: Ctx): Promise<Converted> {
  const project = unpacked.get(entries.projectEntry)
  const attributes = project && (await jsonOf(project, entries.projectEntry))
  const format = attributes?.['format'] as { name?: unknown; version?: unknown } | undefined
  if (attributes && format?.name === entries.recordFormat.name) {
    if (format.version !== entries.recordFormat.version)
      throw new ArchiveRefusal('The archive was made by a newer version, whose records are not known')
    return { unpacked, attributes, snippetFiles: new Map(), heads: new Map(), leftOut: new Map() }
  }
  const tree = await referenceTree(unpacked)
  if (!tree) throw new ArchiveRefusal('The archive has no project')
  return convertProject(tree, unpacked, { folder, relations: relationsFor(importer) })
}

/** The URL of an archive that is not in the blob store yet. */
const openAddress = ({ secrets }: Ctx, { id, sealed_url: sealed }: ArchiveImportRow): string =>
  secrets.open(sealed!, downloadPurpose(id))

/** The archive in the blob store, where a remote one is put first. */
async function digestOf(ctx: Ctx, projectId: number, pending: ArchiveImportRow): Promise<Digest> {
  if (pending.digest !== null) return pending.digest
  const downloaded = await downloadArchive(ctx, openAddress(ctx, pending), archiveLimit(ctx.settings))
  await saveDownloaded(ctx.db, { of: 'project', id: projectId }, downloaded)
  return downloaded
}

/** The importer, who must still be allowed to change the project. */
export async function permitted(
  ctx: Ctx,
  projectId: number,
  userId: number,
): Promise<{ importer: Ctx; project: ProjectSubject }> {
  const found = await projectOnBehalf(ctx, userId, projectId, 'admin_project')
  if (!found) throw new ArchiveRefusal('The importer is no longer allowed to change the project')
  return { importer: found.user, project: found.project }
}

/** Checks again what was checked before the content was read, which may take hours. `then` is the importer of that time. */
export async function stillPermitted(ctx: Ctx, projectId: number, then: Ctx): Promise<void> {
  const { importer } = await permitted(ctx, projectId, then.actor!.id)
  requireSameRights(importer, then)
}

/** Those who were administrators when the people of an archive were found must still be. Throws `ArchiveRefusal`. */
export function requireSameRights(now: Ctx, then: Ctx): void {
  if (then.actor!.admin && !now.actor!.admin) throw new ArchiveRefusal('The importer is no longer an administrator')
}
