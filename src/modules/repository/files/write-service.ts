import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { createCommit } from '../commits/write-service.ts'

export type FileWrite = {
  readonly file_path: string
  readonly branch: string
  readonly start_branch?: string
  readonly content?: string
  readonly encoding?: 'text' | 'base64'
  readonly commit_message: string
  readonly author_name?: string
  readonly author_email?: string
  readonly last_commit_id?: string
}

const stale = {
  create: '',
  update: 'You are attempting to update a file that has changed since you started editing it.',
  delete: 'You are attempting to delete a file that has been previously updated.',
} as const

/** Commits a change of one file. Costs as much as `createCommit`. */
export async function writeFile(
  ctx: Ctx,
  project: ProjectSubject,
  action: keyof typeof stale,
  write: FileWrite,
): Promise<FileWrite> {
  const { file_path, content, encoding, last_commit_id } = write
  await createCommit(ctx, {
    project,
    branch: write.branch,
    start: write.start_branch ? { branch: write.start_branch } : {},
    actions: [
      {
        action,
        file_path,
        ...(content !== undefined && { content }),
        ...(encoding && { encoding }),
        ...(last_commit_id && { last_commit_id }),
      },
    ],
    message: write.commit_message,
    author: { name: write.author_name, email: write.author_email },
    refusal: 'invalid',
    stale: () => stale[action],
  })
  return write
}
