import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { Holder, Relation } from '../../../db/portable/relation.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { findOwnedAvatar } from '../../namespaces/index.ts'
import {
  featureColumns,
  findPortableProject,
  openRepository,
  type PortableProject,
  type ProjectSubject,
} from '../../projects/index.ts'
import { findSideRepository, openSideRepository } from '../../pushes/index.ts'
import { imageRelations } from '../../registry/index.ts'
import { snippetsOf } from '../../text/index.ts'
import { fileEntry, type PackedEntry } from '../archive/pack.ts'
import * as entries from '../layout/names.ts'
import { projectRelations } from '../layout/relations.ts'
import { sorted, writeRecords } from '../records/write-records.ts'
import { blobEntry } from './blob-entry.ts'
import { bundleEntry } from './bundle-entry.ts'
import { snapshotOf } from './snapshot-queries.ts'
import { writePeople } from './write-people.ts'

/** A project that is deleted while it is exported. */
export class ProjectGone extends Error {
  override name = 'ProjectGone'
}

const attributesOf = (project: PortableProject, description: string | null): object => ({
  format: entries.recordFormat,
  description: description ?? project.description,
  visibility_level: project.visibility_level,
  archived: project.archived,
  default_branch: project.default_branch,
  topics: project.topics,
  created_at: project.created_at,
  project_feature: Object.fromEntries(featureColumns.map((name) => [name, project[name]])),
  settings: sorted(project.settings),
})

/** What the user may read of the project. */
const relationsFor = ({ actor }: Ctx, { facts }: ProjectSubject): readonly Relation[] =>
  projectRelations.filter(
    (relation) =>
      (relation.administrators !== 'both' || actor?.admin === true) &&
      (!imageRelations.includes(relation) || allows(projectPolicy.read_container_image, actor, facts)),
  )

/**
 * Writes the entries of the archive of a project into an empty folder. `ctx` is that of the user who asked for it. The rows are those
 * of one moment; the repositories are read after it and may have more.
 */
export async function writeProject(
  ctx: Ctx,
  project: ProjectSubject,
  { folder, description }: { readonly folder: string; readonly description: string | null },
): Promise<readonly PackedEntry[]> {
  const made: PackedEntry[] = []
  const add = async (name: string, content: string): Promise<void> => {
    const path = join(folder, `entry-${made.length}`)
    await writeFile(path, content, { flag: 'wx', mode: 0o600 })
    made.push(fileEntry(name, path, Buffer.byteLength(content)))
  }
  const addBlob = (name: string, digest: Digest, size: number): void =>
    void made.push(blobEntry(ctx, name, digest, size))
  const isAdministrator = ctx.actor?.admin === true
  // Repositories of a project share layers.
  const layers = new Set<string>()
  await add(entries.versionEntry, `${entries.archiveVersion}\n`)

  const holder: Holder = { of: 'project', id: project.id }
  const snippets = await snapshotOf(ctx, async (tx) => {
    const attributes = await findPortableProject(tx, project.id)
    if (!attributes) throw new ProjectGone()
    await add(entries.projectEntry, `${JSON.stringify(attributesOf(attributes, description))}\n`)
    const written = await writeRecords(tx, holder, relationsFor(ctx, project), folder, {
      seen({ name }, { values }) {
        if (name === 'uploads')
          addBlob(
            entries.uploadEntry(values['secret'] as string, values['filename'] as string),
            values['digest'] as Digest,
            values['size'] as number,
          )
        if (name === 'container_blobs') {
          const digest = values['digest'] as string
          const stored = (values['stored_as'] ?? digest) as Digest
          if (!layers.has(digest)) addBlob(entries.imageBlobEntry(digest), stored, values['size'] as number)
          layers.add(digest)
        }
        if (name === 'lfs_objects')
          addBlob(entries.largeFileEntry(values['oid'] as string), values['oid'] as Digest, values['size'] as number)
      },
    })
    for (const [name, { path, size }] of written.files) made.push(fileEntry(entries.relationEntry(name), path, size))
    const people = await writePeople(tx, written.people, folder, isAdministrator)
    if (people) made.push(fileEntry(entries.peopleEntry, people.path, people.bytes))
    const avatar = await findOwnedAvatar(tx, 'project', project.id)
    const size = avatar && (await ctx.blobs.size(avatar.digest))
    if (avatar && size !== undefined) addBlob(entries.avatarEntry(avatar.filename), avatar.digest, size)
    const lines = written.lines.get('snippets')
    return (await snippetsOf(tx, project.id)).flatMap(({ id }) => {
      const line = lines?.get(id)
      return line === undefined ? [] : [{ id, line }]
    })
  })

  const addBundle = async (name: string, repo: Repository): Promise<void> => {
    const entry = await bundleEntry(name, repo, join(folder, `entry-${made.length}`))
    if (entry) made.push(entry)
  }
  await addBundle(entries.bundleEntry, openRepository(ctx, project))
  const wiki = await findSideRepository(ctx.db, { kind: 'project_wiki', id: project.id })
  if (wiki) await addBundle(entries.wikiEntry, openSideRepository(ctx, wiki))
  for (const { id, line } of snippets) {
    const row = await findSideRepository(ctx.db, { kind: 'snippet', id })
    if (row) await addBundle(entries.snippetEntry(line), openSideRepository(ctx, row))
  }
  return made
}
