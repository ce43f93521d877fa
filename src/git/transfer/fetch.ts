import { join } from 'node:path'
import { syncFolder } from '../../kernel/durable.ts'
import { isMissing } from '../../kernel/missing.ts'
import type { Oid } from '../format/oid.ts'
import { readCommit } from '../objects/commits.ts'
import { listRefs } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { streamPack } from './stream-pack.ts'

/** Maximum branches of the target that are named to the source as common; more would not make the pack smaller. */
const namedHaves = 200
const timeoutMs = 60 * 60_000

/**
 * Copies a commit and everything it needs from another repository of this installation. No-op if the commit exists; otherwise
 * three processes, between which the pack streams. Both repositories must exist; throws `unprocessable` if the target is removed meanwhile.
 */
export async function fetchCommit(target: Repository, source: Repository, oid: Oid): Promise<void> {
  if (await readCommit(target, oid)) return
  const tips = await listRefs(target, 'refs/heads/', { limit: namedHaves, order: '-updated', broken: 'omit' })
  const known = await Promise.all(
    tips.map(async (tip) => ((await readCommit(source, tip.oid)) ? [`^${tip.oid}\n`] : [])),
  )
  await streamPack(source, target, { revisions: `${oid}\n${known.flat().join('')}`, thin: true, timeoutMs })
  await syncFolder(join(target.objectDir, 'pack')).catch((error: unknown) => {
    throw isMissing(error) ? target.lost(error) : error
  })
}
