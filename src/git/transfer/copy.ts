import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { syncFolder } from '../../kernel/durable.ts'
import { listRefs, type Ref } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { gitFailure } from '../runner/git-error.ts'

const long = { lane: 'transfer', timeoutMs: 3 * 60 * 60_000 } as const

/**
 * Copies the branches and tags of a repository, with all their objects, into an empty one. Omits objects that only hidden refs
 * reach, and unreachable ones. The two share no files, so either may be deleted. Returns the refs by name. Three processes; the
 * pack streams between them.
 */
export async function copyRefs(target: Repository, source: Repository): Promise<readonly Ref[]> {
  const refs = await listRefs(source, ['refs/heads/', 'refs/tags/'])
  if (refs.length === 0) return refs
  const pack = await source.start('pack-objects', {
    flags: ['--revs', '--stdout', '--delta-base-offset', '-q'],
    stdin: true,
    ...long,
  })
  pack.end(refs.map(({ oid }) => `${oid}\n`).join(''))
  const index = await target
    .start('index-pack', { flags: ['--stdin'], stdin: true, nested: true, ...long })
    .catch((error) => {
      pack.destroy()
      throw error
    })
  index.resume()
  await pipeline(
    pack.failing(({ code, signal, stderr }) =>
      code === 0 ? undefined : gitFailure('pack-objects', { code, signal, stderr }),
    ),
    index,
  )
  const { code, signal, stderr } = await index.done
  if (code !== 0) throw gitFailure('index-pack', { code, signal, stderr })
  await writePackedRefs(target, refs)
  return refs
}

/** Writes all refs to one packed file, as git does: one fsync instead of one per ref. Only for a repository without refs. */
async function writePackedRefs(repo: Repository, refs: readonly Ref[]): Promise<void> {
  const lines = refs.map(({ oid, name, target }) => `${oid} ${name}\n${target === oid ? '' : `^${target}\n`}`)
  await using file = await open(join(repo.gitDir, 'packed-refs'), 'wx')
  await file.writeFile(`# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
  await file.sync()
  await syncFolder(repo.gitDir)
}
