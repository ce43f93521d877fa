import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { type ObjectContent, objectContents } from './cat-file.ts'

/** A Git LFS pointer, stored in place of a large file. */
export type Pointer = { readonly oid: string; readonly sizeBytes: number }

/** The maximum in the LFS specification. */
export const maxPointerBytes = 1023

/** Parses a pointer; `undefined` if the text is not one, or is of an obsolete kind. */
export function parsePointer(text: string): Pointer | undefined {
  if (!text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return undefined
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1]
  const size = /^size (\d{1,15})$/m.exec(text)?.[1]
  return oid === undefined || size === undefined ? undefined : { oid, sizeBytes: Number(size) }
}

export const pointerText = ({ oid, sizeBytes }: Pointer): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${sizeBytes}\n`

const readAtOnce = 500

type PointerOptions = {
  /** Instead of the refs. */
  readonly excluding?: readonly Oid[]
  /** Flags that leave out damaged refs. */
  readonly without?: readonly `--exclude=${string}`[]
}

/**
 * LFS pointers in the commits that no ref reaches yet (or none of `excluding`), in batches, possibly with duplicates. Refs of merge
 * requests do not count, because they may have commits of forks, whose files the project lacks. One `rev-list`, and one round trip per
 * new blob small enough to be a pointer.
 */
export async function* newPointers(
  repo: Repository,
  tips: readonly Oid[],
  { excluding, without = [] }: PointerOptions = {},
): AsyncIterable<Pointer[]> {
  const command = {
    flags: [
      '--objects',
      '--no-object-names',
      `--filter=blob:limit=${maxPointerBytes + 1}`,
      '--filter=object:type=blob',
      '--filter-provided-objects',
      // Git checks separately that the commits are complete.
      '--ignore-missing',
      ...(excluding ? [] : (['--not', '--exclude=refs/merge-requests/*', ...without, '--all', '--not'] as const)),
      // A push may name more refs than fit into a command line.
      '--stdin',
    ],
    input: [...tips, ...(excluding ?? []).map((oid) => `^${oid}`)].map((line) => `${line}\n`).join(''),
    lane: 'transfer',
  } as const
  const oids: string[] = []
  for await (const lines of repo.records('rev-list', command, { end: '\n' })) {
    for (const line of lines) oids.push(line.toString('latin1'))
    while (oids.length >= readAtOnce) yield pointersAmong(repo, oids.splice(0, readAtOnce))
  }
  if (oids.length > 0) yield pointersAmong(repo, oids)
}

async function pointersAmong(repo: Repository, oids: readonly string[]): Promise<Pointer[]> {
  const helper = await repo.objects()
  return pointersIn(await objectContents(helper, oids, maxPointerBytes))
}

const firstByte = 'v'.charCodeAt(0)

/** The pointers among files. */
export const pointersIn = (files: readonly (ObjectContent | undefined)[]): Pointer[] =>
  files.flatMap((file) => (file?.content?.[0] === firstByte ? (parsePointer(file.content.toString('utf8')) ?? []) : []))
