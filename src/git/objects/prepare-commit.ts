import { emptyTreeOid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { type Commit, cacheCommit, parseCommit } from './commits.ts'
import { commitObject, emptyTreeFor, type NewCommit, type NewObject } from './objects.ts'
import { storeObjects } from './pack.ts'
import type { TreeEdit } from './tree-edit.ts'

/** A commit that is not stored yet. */
export type PreparedCommit = {
  readonly commit: Commit
  /** What `store` writes, each object after those it refers to, the commit last. */
  readonly objects: readonly NewObject[]
  /** Stores the objects durably, in one write, and caches the new commits and trees. */
  store(): Promise<void>
}

/**
 * Builds a commit with the objects `below` that it needs: other new commits, its trees and contents. `edit` made the trees. Adds
 * the object of the empty tree where the commit has it.
 */
export function prepareCommit(
  repo: Repository,
  newCommit: NewCommit,
  below: readonly NewObject[] = [],
  edit?: TreeEdit,
): PreparedCommit {
  const object = commitObject(newCommit)
  const commit = parseCommit(object.oid, object.content)
  const isThere = below.some(({ oid }) => oid === emptyTreeOid)
  const objects = [...below, ...(isThere ? [] : emptyTreeFor(newCommit.tree)), object]
  return {
    commit,
    objects,
    async store() {
      await storeObjects(repo, objects)
      edit?.cacheTrees()
      for (const { type, oid, content } of below) if (type === 'commit') cacheCommit(repo, parseCommit(oid, content))
      cacheCommit(repo, commit)
    },
  }
}
