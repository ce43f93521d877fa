import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { syncFolder } from '../../kernel/durable.ts'
import type { Oid } from '../format/oid.ts'
import { readCommit } from '../objects/commits.ts'
import { listRefs } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { gitFailure } from '../runner/git-error.ts'

/** Maximum branches of the target that are named to the source as common; more would not make the pack smaller. */
const namedHaves = 200
const long = { lane: 'transfer', timeoutMs: 60 * 60_000 } as const

/**
 * Copies a commit and everything it needs from another repository of this installation. No-op if the commit exists; otherwise
 * three processes, between which the pack streams. Both repositories must exist.
 */
export async function fetchCommit(target: Repository, source: Repository, oid: Oid): Promise<void> {
  if (await readCommit(target, oid)) return
  const tips = await listRefs(target, 'refs/heads/', { limit: namedHaves, order: '-updated' })
  const known = await Promise.all(
    tips.map(async (tip) => ((await readCommit(source, tip.oid)) ? [`^${tip.oid}\n`] : [])),
  )
  const pack = await source.start('pack-objects', {
    flags: ['--revs', '--stdout', '--thin', '--delta-base-offset', '-q'],
    stdin: true,
    ...long,
  })
  pack.end(`${oid}\n${known.flat().join('')}`)
  const index = await target
    .start('index-pack', { flags: ['--stdin', '--fix-thin'], stdin: true, nested: true, ...long })
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
  await syncFolder(join(target.objectDir, 'pack'))
}
