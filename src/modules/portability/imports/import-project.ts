import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Holder, PortableRecord, Relation } from '../../../db/portable/relation.ts'
import { supplyHook } from '../../integrations/index.ts'
import type { Avatar } from '../../namespaces/index.ts'
import { lockAccessAtLast, projectPlaced, saveAvatar } from '../../namespaces/index.ts'
import { fillProject, saveWikiSize } from '../../projects/index.ts'
import { ImportedImages, restoreImages } from '../../registry/index.ts'
import { restoreSnippets } from '../../text/index.ts'
import * as entries from '../layout/names.ts'
import { projectRelations } from '../layout/relations.ts'
import type { People } from '../records/people.ts'
import type { Importing } from '../records/read-records.ts'
import type { StoredFiles } from './files.ts'
import { importRelations, permittedTo, type RecordSource } from './own-records.ts'
import { hold, type SideRepositories } from './repositories.ts'

/** An archive that was checked, and what is stored of it already. */
export type Prepared = {
  readonly importer: Ctx
  readonly attributes: PortableRecord
  readonly records: RecordSource
  readonly people: People
  readonly files: StoredFiles
  readonly avatar: Avatar | undefined
  readonly sides: SideRepositories
  /** What was left out already, with counts. */
  readonly leftOut: ReadonlyMap<string, number>
}

/** As many as a project may have. Source: supplement to the API documents, 6.1. */
const maxHooks = 100

/** Relations that may be imported by the importer. */
export const relationsFor = (importer: Ctx): readonly Relation[] => permittedTo(importer, projectRelations)

/**
 * Stores everything of an archive except the repository in the transaction that completes the import. No event, mail, hook or todo
 * follows. Returns what was left out, with counts.
 */
export async function importProject(
  ctx: Ctx,
  tx: Tx,
  projectId: number,
  prepared: Prepared,
  chosen: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const { importer, attributes, records, people, files, avatar, sides } = prepared
  const holder: Holder = { of: 'project', id: projectId }
  const leftOut = new Map(prepared.leftOut)
  let hooks = 0
  const images = new ImportedImages()
  const importing: Importing = {
    tx,
    holder,
    people,
    ids: new Map(),
    leftOut,
    async supply(relation, record) {
      if (relation.name === 'container_blobs')
        return images.blob(record, files.get(entries.imageBlobEntry(String(record['digest']))))
      if (relation.name === 'container_manifests') return images.manifest(record)
      if (relation.name !== 'hooks') return supplied(files, relation, record)
      return hooks++ < maxHooks ? supplyHook(importer, tx, record) : undefined
    },
  }
  await importRelations(records, relationsFor(importer), importing)
  await restoreImages(tx, projectId)
  if (sides.wiki) {
    await hold(tx, sides.wiki, { kind: 'project_wiki', id: projectId })
    await saveWikiSize(tx, projectId, sides.wiki.size)
  }
  const snippets: number[] = []
  for (const [line, id] of (importing.ids.get('snippets') ?? []).entries()) {
    if (!id) continue
    const unheld = sides.snippets.get(line)
    if (unheld) await hold(tx, unheld, { kind: 'snippet', id })
    snippets.push(id)
  }
  const empty = await restoreSnippets(ctx, tx, projectId, snippets)
  if (empty > 0) leftOut.set('snippets', empty)
  // Last, because every change of a membership waits for this lock, and what changes a group holds it when it waits for the lock of the group.
  await lockAccessAtLast(tx)
  for (const name of await fillProject(importer, tx, projectId, attributes, chosen)) leftOut.set(name, 1)
  if (avatar && !chosen.has('avatar')) await saveAvatar(tx, 'project', projectId, avatar)
  await projectPlaced(tx, projectId)
  return leftOut
}

/** Digest and size of a file whose bytes are in the archive; undefined leaves the record out. */
function supplied(files: StoredFiles, { name }: Relation, record: PortableRecord): PortableRecord | undefined {
  if (name !== 'uploads' && name !== 'lfs_objects') return record
  const entry =
    name === 'uploads'
      ? entries.uploadEntry(String(record['secret']), String(record['filename']))
      : entries.largeFileEntry(String(record['oid']))
  const blob = files.get(entry)
  return blob && { ...record, digest: blob.digest, size: blob.sizeBytes }
}
