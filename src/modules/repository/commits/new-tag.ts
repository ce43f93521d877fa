import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type RefName, tagRef } from '../../../git/format/ref-name.ts'
import { writeTag } from '../../../git/objects/objects.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import { invalid } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { moveRefs } from '../../pushes/index.ts'
import { refuseCollision } from './move-branch.ts'

/** Maximum characters of the message of an annotated tag. */
export const maxTagMessage = 1024 * 1024

export type NewTag = {
  readonly tag_name: string
  readonly ref: string
  /** Makes it an annotated tag. */
  readonly message?: string
}

export function requireTagName(name: string): RefName {
  const ref = tagRef(name)
  if (!ref) throw invalid('Tag name invalid')
  return ref
}

/** Creates a tag at `ref` and returns what it points to; `undefined` if it exists, or a concurrent request was first. */
export async function createTagIfMissing(
  ctx: Ctx,
  project: ProjectSubject,
  { tag_name: name, ref: target, message }: NewTag,
): Promise<Oid | undefined> {
  const ref = requireTagName(name)
  ctx.outside?.prepare()
  const repo = openRepository(ctx, project)
  const [existing, commit] = await Promise.all([readRef(repo, ref), resolve(repo, target, { prefer: 'branch' })])
  if (existing) return undefined
  if (!commit) throw invalid(`Target ${target} is invalid`)
  const to = message?.trim()
    ? await writeTag(repo, { name, target: commit, targetType: 'commit', tagger: callerSignature(ctx), message })
    : commit
  const change = { name: ref, from: null, to }
  const outcome = await moveRefs(ctx, project.id, repo, [change], { refusal: invalid }).catch(refuseCollision)
  return outcome === 'stale' ? undefined : to
}
