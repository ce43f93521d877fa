import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { Commit as GitCommit } from '../../../git/objects/commits.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { loadProtections } from '../../pushes/index.ts'
import { Commit } from '../commits/entity.ts'
import { findNotes, type NotesRow } from '../releases/queries.ts'

/** A tag and its project; all rows of a page have the same project. */
export type TagRow = {
  readonly name: string
  /** Of an annotated tag. */
  readonly message: string | null
  /** The tag object of an annotated tag, else the commit. */
  readonly target: Oid
  /** Absent for tags of trees and blobs, and if it cannot be read. */
  readonly commit: GitCommit | undefined
  readonly project: ProjectSubject
}

const release = {
  tag_name: Type.String({ description: 'Name of the tag' }),
  description: Type.String({ description: 'Release notes in Markdown' }),
}

export const Tag = entity({
  name: 'Tag',
  schema: Type.Object({
    name: Type.String({ description: 'Name of the tag' }),
    message: nullable(Type.String(), { description: 'Message of an annotated tag' }),
    target: Type.String({ description: 'Hash of the tag object for annotated tags, else of the commit' }),
    commit: nullable(Commit.schema, {
      description: 'Null for tags of files and directories, and if the repository is damaged and has lost it',
    }),
    release: nullable(Type.Object(release), { description: 'Release of the tag; null if there is none' }),
    protected: Type.Boolean({ description: 'True if a protection matches the tag' }),
  }),
  async gather(rows: readonly TagRow[], ctx) {
    const { project } = rows[0]!
    const [protections, releases] = await Promise.all([
      loadProtections(ctx, project),
      findNotes(
        ctx.db,
        project.id,
        rows.map(({ name }) => name),
      ),
    ])
    return { protections, releases: new Map(releases.map((each) => [each.tag, each])) }
  },
  present({ name, message, target, commit, project }, ctx, { protections, releases }) {
    const notes = releases.get(name)
    return {
      name,
      message,
      target,
      commit: commit ? Commit.present({ commit, project }, ctx) : null,
      release: notes ? { tag_name: name, description: notes.description } : null,
      protected: protections.isProtected('tag', name),
    }
  },
})

/** Release notes alone, the response of the older endpoints. */
export const TagRelease = entity({
  name: 'TagRelease',
  schema: Type.Object(release),
  present: ({ tag, description }: NotesRow) => ({ tag_name: tag, description }),
})
