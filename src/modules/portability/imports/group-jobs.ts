import { Type } from 'typebox'
import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Holder, PortableRecord } from '../../../db/portable/relation.ts'
import { job } from '../../../jobs/job.ts'
import { lacksRoom } from '../../../kernel/full-disk.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadGroup } from '../../groups/index.ts'
import type { Avatar } from '../../namespaces/index.ts'
import { archiveLimits } from '../archive/limits.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import { inWorkFolder, removeWorkFolder } from '../archive/work-folder.ts'
import { maxGroups } from '../layout/limits.ts'
import * as entries from '../layout/names.ts'
import { tellLeftOut, tellRequester } from '../mails/mails.ts'
import { recordsIn } from '../records/read-records.ts'
import { convertGroup } from '../reference/convert-group.ts'
import { databaseRefusal } from './database-refusal.ts'
import { avatarIn } from './files.ts'
import { groupRelationsFor, importGroup, type PreparedGroup } from './import-group.ts'
import { requireSameRights } from './jobs.ts'
import { openArchive, readPeople } from './open-archive.ts'
import { checkRecords, ownRecords } from './own-records.ts'
import {
  type ArchiveImportRow,
  countAttempt,
  deleteArchiveImport,
  deleteEndedImports,
  findArchiveImport,
  forgetAttempt,
  stuckGroupImports,
} from './queries.ts'
import { fillGroupWikis } from './repositories.ts'

const maxAttempts = 5

const folderOf = (groupId: number): string => `import-group-${groupId}`

/** Imports an uploaded archive into a new group. A failure leaves the group empty, and sends the reason to the importer. */
export const importGroupArchive = job({
  name: 'import_group_archive',
  slow: true,
  input: Type.Object({ groupId: Type.Integer() }),
  key: ({ groupId }) => `import_group_archive:${groupId}`,
  async limits({ groupId }, ctx) {
    const pending = await findArchiveImport(ctx.db, { of: 'group', id: groupId })
    return pending && archiveLimits('import', { userId: pending.user_id, url: undefined })
  },
  attempts: 10,
  async run({ groupId }, ctx) {
    const holder: Holder = { of: 'group', id: groupId }
    const attempt = await countAttempt(ctx.db, holder)
    const pending = await findArchiveImport(ctx.db, holder)
    if (!pending || attempt === undefined) return removeWorkFolder(ctx, folderOf(groupId))
    try {
      if (attempt > maxAttempts) throw new ArchiveRefusal('The import was interrupted too often.')
      await inWorkFolder(ctx, folderOf(groupId), async (folder) => {
        const prepared = await prepare(ctx, groupId, pending, folder)
        await ctx.transaction(async (tx) => {
          // Another run was faster.
          if ((await deleteArchiveImport(tx, holder)) === 0) return
          const leftOut = await importGroup(ctx, tx, groupId, prepared)
          // Last, because the import waits for the lock of access.
          requireSameRights(await permittedImporter(ctx, groupId, pending.user_id), prepared.importer)
          await tellLeftOut(ctx, tx, { ...holder, userId: pending.user_id }, leftOut)
        })
      })
    } catch (error) {
      const reason = error instanceof ArchiveRefusal ? error.message : databaseRefusal(error)
      if (reason === undefined) {
        if (lacksRoom(error)) await forgetAttempt(ctx.db, holder)
        throw error
      }
      await fail(ctx, holder, pending.user_id, reason)
    }
  },
})

/** As imports of projects. */
const stuckAfterHours = 15

/**
 * Ends imports that no job will finish, because its process was killed too often: until then nothing can be written into the group.
 * Forgets the archives of projects of which that is true.
 */
export const endStuckArchiveImports = job({
  name: 'end_stuck_archive_imports',
  input: Type.Object({}),
  key: () => 'end_stuck_archive_imports',
  attempts: 3,
  every: { cron: '55 * * * *', input: {} },
  async run(_input, ctx) {
    for (const { namespace_id: id, user_id } of await stuckGroupImports(ctx.db, stuckAfterHours))
      await fail(ctx, { of: 'group', id }, user_id, `It took longer than ${stuckAfterHours} hours.`)
    await deleteEndedImports(ctx.db)
  },
})

const fail = (ctx: Ctx, holder: Holder, userId: number, reason: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    if ((await deleteArchiveImport(tx, holder)) === 0) return
    ctx.log.warn({ group_id: holder.id, reason }, 'failed to import a group')
    await tellRequester(ctx, tx, userId, 'Import of a group failed', `The archive could not be imported: ${reason}`)
  })

/** The importer, who must still be allowed to change the group. */
async function permittedImporter(ctx: Ctx, groupId: number, userId: number): Promise<Ctx> {
  const importer = await asAccount(ctx, userId)
  const group = importer && (await loadGroup(groupId, importer))
  if (!importer || !group || !allows(groupPolicy.admin_group, importer.actor, group.facts))
    throw new ArchiveRefusal('The importer is no longer allowed to change the group')
  return importer
}

async function prepare(ctx: Ctx, groupId: number, pending: ArchiveImportRow, folder: string): Promise<PreparedGroup> {
  const importer = await permittedImporter(ctx, groupId, pending.user_id)
  const opened = await openArchive(ctx, pending.digest!, folder)
  const converted = opened.has(entries.groupsEntry) ? undefined : await convertGroup(opened, folder)
  const unpacked = converted?.unpacked ?? opened
  const file = unpacked.get(entries.groupsEntry)
  if (!file) throw new ArchiveRefusal('The archive has no group')
  const groups: PortableRecord[] = []
  const avatars = new Map<number, Avatar>()
  for await (const { record, line } of recordsIn(file.path, 'groups')) {
    if (line > maxGroups) throw new ArchiveRefusal(`groups has more than ${maxGroups} records`)
    groups.push(record)
    const avatar = await avatarIn(ctx, unpacked, `avatars/${line}/`)
    if (avatar) avatars.set(line, avatar)
  }
  if (groups.length === 0) throw new ArchiveRefusal('The archive has no group')
  const records = ownRecords(unpacked, entries.groupRelationEntry)
  await checkRecords(records, groupRelationsFor(importer), { isAdministrator: importer.actor?.admin === true })
  return {
    importer,
    groups,
    records,
    people: await readPeople(ctx, importer, unpacked, entries.groupPeopleEntry),
    avatars,
    wikis: await fillGroupWikis(ctx, unpacked),
    leftOut: converted?.leftOut ?? new Map(),
  }
}
