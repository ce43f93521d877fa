import { join } from 'node:path'
import { syncFolder } from '../../kernel/durable.ts'
import { isMissing } from '../../kernel/missing.ts'
import type { Oid } from '../format/oid.ts'
import { isWithin } from '../history/ancestry.ts'
import { readCommit } from '../objects/commits.ts'
import { readRefFiles, withoutBroken } from '../refs/ref-files.ts'
import { listRefTips } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { damageIn } from '../runner/damage.ts'
import { GitError } from '../runner/git-error.ts'
import { streamPack } from './stream-pack.ts'

/** Maximum branches of the target that are named to the source as common; more would not make the pack smaller. */
const namedHaves = 200
const timeoutMs = 60 * 60_000

/**
 * Copies a commit and everything it needs from another repository of this installation. No-op if a ref of the target reaches it; otherwise
 * three processes, between which the pack streams. Both repositories must exist; throws `unprocessable` if one of them is removed meanwhile.
 */
export async function fetchCommit(target: Repository, source: Repository, oid: Oid): Promise<void> {
  if (await isReached(target, oid)) return
  const tips = await listRefTips(target, 'refs/heads/', { limit: namedHaves, order: '-updated', broken: 'omit' })
  const known = await Promise.all(
    tips.map(async (tip) => ((await readCommit(source, tip.oid)) ? [`^${tip.oid}\n`] : [])),
  )
  await streamPack(source, target, { revisions: `${oid}\n${known.flat().join('')}`, thin: true, timeoutMs })
  await syncFolder(join(target.objectDir, 'pack')).catch((error: unknown) => {
    throw isMissing(error) ? target.lost(error) : error
  })
}

/**
 * Whether a ref has the commit in its history, so that the repository has all that it needs. A commit alone may be what was stored before an
 * interruption. One process unless a branch has it.
 */
async function isReached(repo: Repository, oid: Oid): Promise<boolean> {
  if (!(await readCommit(repo, oid))) return false
  const branches = await readRefFiles(repo, 'refs/heads', { broken: 'omit' })
  if (branches !== 'ask' && branches.length <= namedHaves) {
    const tips = branches.map((branch) => branch.oid)
    if (await isWithin(repo, oid, tips).catch(() => undefined)) return true
  }
  const refs = [...(await withoutBroken(repo)), '--all'] as const
  const found = await repo
    .run('rev-list', { flags: ['--max-count=1', '--not', ...refs, '--not'], args: [oid] })
    .catch((error: unknown) => {
      // A ref has lost its history: what it reaches may be lost, too.
      if (error instanceof GitError || damageIn(error)) return undefined
      throw error
    })
  return found?.stdout.length === 0
}
