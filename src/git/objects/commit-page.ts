import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { type Commit, readCommits } from './commits.ts'

/** Maximum characters of the messages of one page: a message may have megabytes. */
const maxCharacters = 32 * 1024 * 1024
/** Commits read at a time. */
const readAtOnce = 8

/** The commits of a page of a list, in the order of `oids`, `undefined` for missing ones. Fails as `too_large` if their messages are. */
export async function readCommitPage(repo: Repository, oids: readonly Oid[]): Promise<(Commit | undefined)[]> {
  const page: (Commit | undefined)[] = []
  let characters = 0
  for (let at = 0; at < oids.length; at += readAtOnce)
    for (const commit of await readCommits(repo, oids.slice(at, at + readAtOnce))) {
      characters += commit?.message.length ?? 0
      if (characters > maxCharacters)
        throw new Failure('too_large', 'The commits are too large for one list: use a lower per_page')
      page.push(commit)
    }
  return page
}
