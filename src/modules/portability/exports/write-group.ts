import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { type GroupSubject, type PortableGroup, portableGroups } from '../../groups/index.ts'
import { findOwnedAvatar } from '../../namespaces/index.ts'
import { findSideRepository, openSideRepository } from '../../pushes/index.ts'
import { fileEntry, type PackedEntry } from '../archive/pack.ts'
import * as entries from '../layout/names.ts'
import { groupRelations } from '../layout/relations.ts'
import { LineFile, writeRecords } from '../records/write-records.ts'
import { blobEntry } from './blob-entry.ts'
import { bundleEntry } from './bundle-entry.ts'
import { snapshotOf } from './snapshot-queries.ts'
import { writePeople } from './write-people.ts'
import { ProjectGone } from './write-project.ts'

/** Writes the entries of the archive of a group and all groups below it into an empty folder, without projects. */
export async function writeGroup(ctx: Ctx, group: GroupSubject, folder: string): Promise<readonly PackedEntry[]> {
  const version = join(folder, 'version')
  const content = `${entries.archiveVersion}\n`
  await writeFile(version, content, { mode: 0o600 })
  const made: PackedEntry[] = [fileEntry(entries.versionEntry, version, content.length)]
  const groups = new LineFile(join(folder, 'groups'))
  const lines = await snapshotOf(ctx, async (tx) => {
    const all = await portableGroups(tx, group.id)
    if (all.length === 0) throw new ProjectGone()
    const lines = new Map(all.map(({ id }, index) => [id, index + 1]))
    await groups.add(all.map((each) => JSON.stringify(recordOf(each, lines))))
    const known = new Map([['groups', lines]])
    const written = await writeRecords(tx, { of: 'group', id: group.id }, groupRelations, folder, { known })
    for (const [name, { path, size }] of written.files)
      made.push(fileEntry(entries.groupRelationEntry(name), path, size))
    for (const [id, line] of lines) {
      const avatar = await findOwnedAvatar(tx, 'group', id)
      const size = avatar && (await ctx.blobs.size(avatar.digest))
      if (avatar && size !== undefined)
        made.push(blobEntry(ctx, entries.groupAvatarEntry(line, avatar.filename), avatar.digest, size))
    }
    const people = await writePeople(tx, written.people, folder, ctx.actor?.admin === true)
    if (people) made.push(fileEntry(entries.groupPeopleEntry, people.path, people.bytes))
    return lines
  })
  made.push(fileEntry(entries.groupsEntry, groups.path, groups.bytes))
  for (const [id, line] of lines) {
    const wiki = await findSideRepository(ctx.db, { kind: 'group_wiki', id })
    const path = join(folder, `wiki-${line}`)
    const entry = wiki && (await bundleEntry(entries.groupWikiEntry(line), openSideRepository(ctx, wiki), path))
    if (entry) made.push(entry)
  }
  return made
}

/** The first group is the one that is exported: its parent is not in the archive, and its name and path are chosen by the importer. */
function recordOf({ id, parent_id: parentId, path, name, ...attributes }: PortableGroup, lines: Map<number, number>) {
  const parent = parentId === null ? undefined : lines.get(parentId)
  return { ...(parent !== undefined && { parent, path, name }), ...attributes }
}
