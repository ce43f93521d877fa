import { pipeline } from 'node:stream/promises'
import type { Repository } from '../repository/repository.ts'

export type PackOptions = {
  /** Lines for `pack-objects --revs`: an object id, or `^` and one that the target has. */
  readonly revisions: string
  /** Leaves out base objects that the target has. */
  readonly thin?: boolean
  readonly timeoutMs: number
}

/** Streams a pack from one repository to another, where its objects are stored. Two processes; throws `GitError` if one fails, `unprocessable` if one of the repositories is gone. */
export async function streamPack(
  source: Repository,
  target: Repository,
  { revisions, thin = false, timeoutMs }: PackOptions,
): Promise<void> {
  const long = { lane: 'transfer', timeoutMs } as const
  const pack = await source.stream('pack-objects', {
    flags: ['--revs', '--stdout', ...(thin ? (['--thin'] as const) : []), '--delta-base-offset', '-q'],
    input: revisions,
    ...long,
  })
  const index = await target
    .start('index-pack', {
      flags: ['--stdin', ...(thin ? (['--fix-thin'] as const) : [])],
      nested: true,
      stdin: true,
      ...long,
    })
    .catch((error) => {
      pack.destroy()
      throw error
    })
  index.resume()
  await pipeline(pack, index)
  await target.requireSuccess('index-pack', await index.done)
}
