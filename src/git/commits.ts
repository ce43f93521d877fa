import { objectContent } from './cat-file.ts'
import { parseObjectText } from './object-text.ts'
import type { NewObject } from './objects.ts'
import type { Oid } from './oid.ts'
import { keep, remember } from './remember.ts'
import type { Repository } from './repository.ts'
import { parseSignature, type Signature } from './signature.ts'

export type Commit = {
  readonly oid: Oid
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Signature
  readonly committer: Signature
  /** All of it, with the final newline it may have. */
  readonly message: string
  /** The armoured signature, OpenPGP, SSH or X.509; the signed text is the object without this header. */
  readonly signature: string | undefined
}

/** The first line of a message, whole. */
export const titleOf = (message: string): string =>
  message.trim() === '' ? '--no commit message' : message.split(/[\r\n]/, 1)[0]!

/** A message longer than this is no message: the commit reads as absent. */
const maxCommitBytes = 8 * 1024 * 1024

/**
 * The commit, remembered. One round trip without a process when it is not. `undefined` when the repository has no such
 * commit. An annotated tag's id gives the commit it stands for.
 */
export function readCommit(repo: Repository, oid: Oid): Promise<Commit | undefined> {
  return remember(
    repo,
    `commit ${oid}`,
    async (repo) => {
      const found = await objectContent(await repo.objects(), `${oid}^{commit}`, maxCommitBytes)
      return found?.content && parseCommit(found.oid, found.content)
    },
    (commit) => 400 + 2 * (commit.message.length + (commit.signature?.length ?? 0)),
  )
}

/** The commit of an object that was just made, remembered so that the next reader need not ask. */
export function rememberCommit(repo: Repository, { oid, content }: NewObject): Commit {
  const commit = parseCommit(oid, content)
  keep(repo, `commit ${oid}`, commit, 400 + content.length * 2)
  return commit
}

/** As `readCommit` for many in one round trip, in the order of `oids`. */
export const readCommits = (repo: Repository, oids: readonly Oid[]): Promise<(Commit | undefined)[]> =>
  Promise.all(oids.map((oid) => readCommit(repo, oid)))

/** Reads the content of a commit object. */
export function parseCommit(oid: Oid, content: Buffer): Commit {
  const { headers, message } = parseObjectText(content)
  return {
    oid,
    tree: (headers.get('tree')?.[0] ?? '') as Oid,
    parents: (headers.get('parent') ?? []) as Oid[],
    author: parseSignature(headers.get('author')?.[0] ?? ''),
    committer: parseSignature(headers.get('committer')?.[0] ?? ''),
    message,
    signature: headers.get('gpgsig')?.[0] ?? headers.get('gpgsig-sha256')?.[0],
  }
}
