import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { isSigned } from '../../../git/objects/signature-format.ts'
import { readSignedCommit } from '../../../git/objects/signed-commit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import { findKey, privateEmailHost, type SshKeyRow } from '../../accounts/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { findCommitId } from '../commits/revision.ts'
import { judge } from './judge.ts'
import { deleteJudgement, findJudgement, type Judgement, saveJudgement, signaturesOfUser } from './queries.ts'

export type SignatureRecord = Judgement & { readonly ssh_key: SshKeyRow | undefined }

/**
 * The verification result of a commit's signature; computed on first use. Throws `not_found` if there is no commit or
 * no signature.
 */
export async function getSignature(ctx: Ctx, project: ProjectSubject, name: string): Promise<SignatureRecord> {
  const repo = openRepository(ctx, project)
  const oid = await findCommitId(repo, name)
  const commit = oid && (await readCommit(repo, oid))
  if (!commit) throw notFound('Commit')
  if (!isSigned(commit)) throw notFound('GPG Signature')
  const judgement =
    (await findJudgement(ctx.db, project.id, commit.oid)) ?? (await judgeCommit(ctx, project.id, repo, commit.oid))
  if (!judgement) throw notFound('GPG Signature')
  const { ssh_key_id } = judgement
  return { ...judgement, ssh_key: ssh_key_id === null ? undefined : await findKey(ctx.db, ssh_key_id) }
}

/** Each retry follows a change of the same keys; the last result is used in any case. */
const maxAttempts = 3

/**
 * Verifies the signature of a commit and saves the result. Reads the keys again after saving: this sees earlier changes
 * of keys, and later ones find the saved result and verify it again.
 */
async function judgeCommit(ctx: Ctx, projectId: number, repo: Repository, oid: Oid): Promise<Judgement | undefined> {
  const signed = await readSignedCommit(repo, oid)
  let grounds = signed && (await judge(ctx.db, signed, privateEmailHost(ctx)))
  if (!signed || !grounds) {
    await deleteJudgement(ctx.db, projectId, oid)
    return undefined
  }
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    await saveJudgement(ctx.db, projectId, oid, grounds.judgement)
    const again: typeof grounds | undefined = await judge(ctx.db, signed, privateEmailHost(ctx))
    if (!again || again.basis === grounds.basis) break
    grounds = again
  }
  return grounds.judgement
}

const batchSize = 200

/** Verifies all signatures again that depend on the user's keys and addresses. Idempotent. */
export async function judgeSignaturesOf(ctx: Ctx, userId: number): Promise<void> {
  let after = { project_id: 0, oid: '' as Oid }
  for (;;) {
    const due = await signaturesOfUser(ctx.db, userId, after, batchSize)
    for (const { project_id: id, repository_storage, repository_key, oid } of due)
      await judgeCommit(ctx, id, openRepository(ctx, { id, repository_storage, repository_key }), oid)
    if (due.length < batchSize) return
    after = due.at(-1)!
  }
}
