import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { GitError } from '../runner/git-error.ts'
import { objectContent } from './cat-file.ts'

/** What stands in a repository for a large file (git LFS). */
export type Pointer = { readonly oid: string; readonly sizeBytes: number }

/** The specification allows no larger ones. */
const maxPointerBytes = 1023

/** The large file a blob points to; `undefined` when it is none, or one of a kind nobody makes any more. */
export function parsePointer(text: string): Pointer | undefined {
  if (!text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return undefined
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1]
  const size = /^size (\d{1,15})$/m.exec(text)?.[1]
  return oid === undefined || size === undefined ? undefined : { oid, sizeBytes: Number(size) }
}

export const pointerText = ({ oid, sizeBytes }: Pointer): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${sizeBytes}\n`

const readAtOnce = 500

/**
 * Large files that commits point to and no ref reaches yet (or none of `excluding`), some at a time, perhaps repeatedly. One
 * `rev-list`, and one round trip for each new blob that is small enough to be a pointer.
 */
export async function* newPointers(
  repo: Repository,
  tips: readonly Oid[],
  excluding?: readonly Oid[],
): AsyncIterable<Pointer[]> {
  const child = await repo.start('rev-list', {
    flags: [
      '--objects',
      '--no-object-names',
      `--filter=blob:limit=${maxPointerBytes + 1}`,
      '--filter=object:type=blob',
      '--filter-provided-objects',
      // Whether commits are whole is git's to say.
      '--ignore-missing',
      ...(excluding ? [] : (['--not', '--all', '--not'] as const)),
    ],
    args: [...tips, ...(excluding ?? []).map((oid) => `^${oid}`)],
    lane: 'transfer',
  })
  let rest = ''
  const oids: string[] = []
  for await (const chunk of child as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop()!
    oids.push(...lines)
    while (oids.length >= readAtOnce) yield pointersAmong(repo, oids.splice(0, readAtOnce))
  }
  const { code, signal, stderr } = await child.done
  if (code !== 0) throw new GitError('rev-list', code, signal, stderr)
  if (oids.length > 0) yield pointersAmong(repo, oids)
}

async function pointersAmong(repo: Repository, oids: readonly string[]): Promise<Pointer[]> {
  const helper = await repo.objects()
  const blobs = await Promise.all(oids.map((oid) => objectContent(helper, oid, maxPointerBytes)))
  return blobs.flatMap((blob) => parsePointer(blob?.content?.toString('utf8') ?? '') ?? [])
}
