import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import type { Repository } from '../repository/repository.ts'

export type SizedFile = { readonly path: string; readonly oid: Oid; readonly sizeBytes: number }

/**
 * The first `limit` files of a commit with their sizes, in git's order, without symbolic links and submodules. One process,
 * stopped at the limit.
 */
export async function listSizedFiles(repo: Repository, commit: Oid, limit: number): Promise<SizedFile[]> {
  const child = await repo.start('ls-tree', {
    flags: ['-r', '-l', '-z', '--full-tree'],
    args: [commit],
    lane: 'transfer',
    timeoutMs: 10 * 60_000,
  })
  const files: SizedFile[] = []
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of child as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (let nul = bytes.indexOf(0); nul >= 0; nul = bytes.indexOf(0, at)) {
      const file = parseLine(bytes.subarray(at, nul))
      if (file) files.push(file)
      at = nul + 1
    }
    rest = bytes.subarray(at)
    if (files.length >= limit) {
      child.kill('SIGKILL')
      return files.slice(0, limit)
    }
  }
  const { code } = await child.done
  if (code !== 0) throw new Failure('unavailable', 'The tree cannot be read')
  return files
}

/** `<mode> <type> <oid> <size, padded>\t<path>` */
function parseLine(line: Buffer): SizedFile | undefined {
  const tab = line.indexOf(9)
  const [mode, , oid, size] = line.toString('latin1', 0, tab).split(/ +/) as [string, string, Oid, string]
  if (!mode.startsWith('100')) return undefined
  return { path: pathFromBytes(line.subarray(tab + 1)), oid, sizeBytes: Number(size) }
}
