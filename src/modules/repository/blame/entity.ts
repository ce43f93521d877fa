import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { formatSignatureTime } from '../../../git/objects/signature.ts'

/** Lines that follow one another, and the commit that wrote them. */
export type BlameRow = { readonly commit: Commit; readonly lines: readonly string[] }

export const BlameRange = entity({
  name: 'BlameRange',
  schema: Type.Object({
    commit: Type.Object({
      id: Type.String({ description: 'Full hash' }),
      parent_ids: Type.Array(Type.String()),
      message: Type.String(),
      authored_date: timestamp("Author date in the author's time zone"),
      author_name: Type.String(),
      author_email: Type.String(),
      committed_date: timestamp("Committer date in the committer's time zone"),
      committer_name: Type.String(),
      committer_email: Type.String(),
    }),
    lines: Type.Array(Type.String(), { description: 'Lines without their newline' }),
  }),
  present: ({ commit, lines }: BlameRow) => ({
    commit: {
      id: commit.oid,
      parent_ids: [...commit.parents],
      message: commit.message,
      authored_date: formatSignatureTime(commit.author),
      author_name: commit.author.name,
      author_email: commit.author.email,
      committed_date: formatSignatureTime(commit.committer),
      committer_name: commit.committer.name,
      committer_email: commit.committer.email,
    },
    lines: [...lines],
  }),
})
