import { join } from 'node:path'
import { syncFolder } from '../../kernel/durable.ts'
import type { Oid } from '../format/oid.ts'
import { listRefs, type Ref } from '../refs/refs.ts'
import { peeledRefsText, writePackedRefs } from '../refs/write-packed-refs.ts'
import type { Repository } from '../repository/repository.ts'
import { streamPack } from './stream-pack.ts'

const timeoutMs = 3 * 60 * 60_000

/**
 * Copies the branches and tags of a repository, with all their objects, into an empty one. Omits objects that only hidden refs
 * reach, and unreachable ones. The two share no files, so either may be deleted. Returns the refs by name. Three processes; the
 * pack streams between them.
 */
export async function copyRefs(target: Repository, source: Repository): Promise<readonly Ref[]> {
  const refs = await listRefs(source, ['refs/heads/', 'refs/tags/'])
  if (refs.length === 0) return refs
  await streamPack(source, target, { revisions: refs.map(({ oid }) => `${oid}\n`).join(''), timeoutMs })
  await writePackedRefs(target, peeledRefsText(refs))
  return refs
}

/**
 * Copies objects that `wanted` need and `known`, which the target has, do not reach; durably. The source may be a quarantine of
 * the target. Two processes, between which the pack streams.
 */
export async function copyReachable(
  source: Repository,
  target: Repository,
  wanted: readonly Oid[],
  known: readonly Oid[],
): Promise<void> {
  const revisions = [...wanted.map((oid) => `${oid}\n`), ...known.map((oid) => `^${oid}\n`)].join('')
  await streamPack(source, target, { revisions, timeoutMs })
  await syncFolder(join(target.objectDir, 'pack'))
}
