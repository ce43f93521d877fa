import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { tagRef } from '../../../git/format/ref-name.ts'
import { type Commit as GitCommit, readCommit } from '../../../git/objects/commits.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { ifReadable } from '../../pushes/index.ts'
import { Commit } from '../commits/entity.ts'
import { LinkSchema, linkRecord } from './link-entity.ts'
import type { MilestonesOfReleases } from './milestones.ts'
import type { ReleaseRow } from './queries.ts'

/** A release and its project; all rows of a page have the same project. */
export type Row = { readonly release: ReleaseRow; readonly project: ProjectSubject }

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const

export const releaseEntity = (milestones: MilestonesOfReleases) =>
  entity({
    name: 'Release',
    schema: Type.Object({
      name: Type.String({ description: 'Name; default: the name of the tag' }),
      description: Type.String({ description: 'Release notes in Markdown' }),
      created_at: timestamp('Time at which the release was created'),
      released_at: timestamp('Release date; a release may be announced in advance'),
      milestones: Type.Array(milestones.schema, {
        description: 'Milestones of the project and of its groups; empty if the caller may not read them',
      }),
      upcoming_release: Type.Boolean({ description: 'The release date is in the future' }),
      author: nullable(UserReferenceSchema, { description: 'Null if the user was deleted' }),
      assets: Type.Object(
        {
          count: Type.Integer({ description: 'Number of sources and links' }),
          sources: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  format: Type.String({ enum: [...formats], description: 'Format of the archive' }),
                  url: Type.String({ description: 'URL of the archive' }),
                },
                { title: 'ReleaseSource' },
              ),
              { description: 'Archives of the code; absent if the caller may not read it' },
            ),
          ),
          links: Type.Array(LinkSchema, { description: 'Links to files elsewhere' }),
        },
        { title: 'ReleaseAssets', description: 'What the release offers for download' },
      ),
      // Only callers who can read the code see whether the tag exists, and its contents.
      tag_name: Type.Optional(
        Type.String({ description: 'Tag of the release; absent if the caller may not read the code' }),
      ),
      commit: Type.Optional(nullable(Commit.schema, { description: 'Commit of the tag; null if the tag was deleted' })),
      commit_path: Type.Optional(nullable(Type.String({ description: 'Path relative to the URL of the instance' }))),
      tag_path: Type.Optional(Type.String({ description: 'Path relative to the URL of the instance' })),
      _links: Type.Optional(
        Type.Object(
          { self: Type.String({ description: 'URL of the release page' }) },
          { description: 'URLs of the release; absent if the caller may not read the code' },
        ),
      ),
    }),
    async gather(rows: readonly Row[], ctx) {
      const { project } = rows[0]!
      const readsCode = allows(projectPolicy.read_code, ctx.actor, project.facts)
      const ids = rows.map(({ release }) => release.id)
      return {
        readsCode,
        commits: new Map(readsCode ? await commitsOf(ctx, rows) : []),
        milestones: await milestones.recordsOf(ctx, project, ids),
      }
    },
    present({ release, project }, ctx, { readsCode, commits, milestones: named }) {
      const sources = readsCode ? sourcesOf(release, project, ctx) : undefined
      return {
        // The name of the tag would disclose it.
        name: readsCode ? (release.name ?? release.tag) : `Release-${release.id}`,
        description: release.description,
        created_at: release.created_at,
        released_at: release.released_at,
        milestones: [...(named.get(release.id) ?? [])],
        upcoming_release: release.upcoming,
        author: release.author && userReference(release.author, ctx),
        assets: {
          count: release.links.length + (sources?.length ?? 0),
          ...(sources && { sources }),
          links: release.links.map((link) => linkRecord(link, project, ctx)),
        },
        ...(readsCode && codeOf(release, project, commits.get(release.tag), ctx)),
      }
    },
  })

/** The current commits of tags. One round trip. */
const commitsOf = (ctx: Ctx, rows: readonly Row[]): Promise<[tag: string, commit: GitCommit | undefined][]> => {
  const repo = openRepository(ctx, rows[0]!.project)
  return Promise.all(
    rows.map(async ({ release: { tag } }) => {
      const ref = tagRef(tag)
      const oid = ref && (await ifReadable(ctx, readRef(repo, ref), undefined))
      return [tag, oid && (await ifReadable(ctx, readCommit(repo, oid), undefined))]
    }),
  )
}

const sourcesOf = ({ tag }: ReleaseRow, { id }: ProjectSubject, { site }: Ctx) =>
  formats.map((format) => ({
    format,
    url: `${site.apiUrl}/projects/${id}/repository/archive.${format}?sha=${encodeURIComponent(tag)}`,
  }))

function codeOf({ tag }: ReleaseRow, project: ProjectSubject, commit: GitCommit | undefined, ctx: Ctx) {
  const named = encodeURIComponent(tag)
  return {
    tag_name: tag,
    commit: commit ? Commit.present({ commit, project }, ctx) : null,
    commit_path: commit ? `/${project.full_path}/-/commit/${commit.oid}` : null,
    tag_path: `/${project.full_path}/-/tags/${named}`,
    _links: { self: `${ctx.site.url}/${project.full_path}/-/releases/${named}` },
  }
}
