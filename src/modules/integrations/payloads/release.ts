import type { Oid } from '../../../git/format/oid.ts'
import { tagRef } from '../../../git/format/ref-name.ts'
import { readTag } from '../../../git/objects/tags.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { PayloadProject } from './blocks.ts'
import { findReleaseRow, type ReleaseRow } from './queries.ts'
import { asRecorded } from './shown.ts'
import { type Builder, textIn } from './source.ts'

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const

const actions: Readonly<Record<string, string>> = {
  release_created: 'create',
  release_updated: 'update',
  release_deleted: 'delete',
}

export const releasePayload: Builder = async (ctx, { event }) => {
  const tag = textIn(event.payload, 'tag') ?? ''
  const project = await PayloadProject.load(ctx, event.project_id)
  if (!project) return undefined
  const release =
    event.kind === 'release_deleted'
      ? deletedRelease(event.facts)
      : await asRecorded(ctx.shown?.release, 'description', () => findReleaseRow(ctx.db, project.row.id, tag))
  if (!release) return undefined
  const ref = tagRef(tag)
  const oid = ref && (await readRef(project.repository, ref))
  const annotated = oid && (await readTag(project.repository, oid))
  const sources = formats.map((format) => ({
    format,
    url: `${ctx.site.apiUrl}/projects/${project.row.id}/repository/archive.${format}?sha=${encodeURIComponent(tag)}`,
  }))
  return {
    object_kind: 'release',
    id: release.id,
    created_at: release.created_at,
    description: project.withAbsoluteImages(release.description),
    name: release.name ?? tag,
    released_at: release.released_at,
    tag,
    project: project.block,
    url: `${project.webUrl}/-/releases/${encodeURIComponent(tag)}`,
    action: actions[event.kind] ?? 'update',
    assets: { count: release.links.length + sources.length, links: release.links, sources },
    commit: await project.commitBlock((annotated?.target ?? oid ?? null) as Oid | null),
  }
}

const deletedRelease = (facts: Readonly<Record<string, unknown>>): ReleaseRow => ({
  id: Number(facts['release_id']),
  name: textIn(facts, 'name'),
  description: textIn(facts, 'description') ?? '',
  created_at: inPayloadFormat(facts['created_at']),
  released_at: inPayloadFormat(facts['released_at']),
  links: linksIn(facts).map((link) => ({ ...link, external: true as const })),
})

/** Oldest first. */
const linksIn = ({ links }: Readonly<Record<string, unknown>>): Omit<ReleaseRow['links'][number], 'external'>[] =>
  Array.isArray(links) ? links.toReversed() : []

const inPayloadFormat = (time: unknown): string =>
  `${new Date(String(time)).toISOString().slice(0, 19).replace('T', ' ')} UTC`
