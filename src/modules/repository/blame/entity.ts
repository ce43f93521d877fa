import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { formatSignatureTime } from '../../../git/objects/signature.ts'

/** Consecutive lines and the commit that last changed them. */
export type BlameRow = { readonly commit: Commit; readonly lines: readonly string[] }

export const BlameRange = entity({
  name: 'BlameRange',
  schema: Type.Object(
    {
      commit: Type.Object(
        {
          id: Type.String({ description: 'Full hash of the commit' }),
          parent_ids: Type.Array(Type.String(), { description: 'Full hashes of the parents; empty for a root commit' }),
          message: Type.String({ description: 'Whole message of the commit' }),
          authored_date: timestamp("Author date in the author's time zone"),
          author_name: Type.String({ description: 'Name of the author' }),
          author_email: Type.String({ description: 'Email address of the author' }),
          committed_date: timestamp("Committer date in the committer's time zone"),
          committer_name: Type.String({ description: 'Name of the committer' }),
          committer_email: Type.String({ description: 'Email address of the committer' }),
        },
        { description: 'Commit that last changed the lines' },
      ),
      lines: Type.Array(Type.String(), { description: 'Lines without their newline' }),
    },
    { title: 'BlameCommit' },
  ),
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
