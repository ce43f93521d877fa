import { join } from 'node:path'
import type { GitContext } from './context.ts'
import { quoteAlternate, Repository } from './repository.ts'

/**
 * Several repositories read as one: the objects of all of them by their ids, and no refs. One process then looks into all.
 * Names of a repository that has gone are no objects here. Dispose it after use.
 */
export class RepositoryUnion extends Repository {
  private constructor(git: GitContext, emptyDir: string, members: readonly Repository[], gone?: AbortSignal) {
    super(git, emptyDir, {
      env: {
        GIT_ALTERNATE_OBJECT_DIRECTORIES: members
          .map(({ gitDir }) => quoteAlternate(join(gitDir, 'objects')))
          .join(':'),
      },
      // All members were opened for the same caller.
      caller: members[0]?.caller ?? '',
      ...(gone && { gone }),
    })
  }

  /** `gone`: see `Repository.until`. */
  static async of(git: GitContext, members: readonly Repository[], gone?: AbortSignal): Promise<RepositoryUnion> {
    return new RepositoryUnion(git, await git.emptyDir(), members, gone)
  }

  /** Ends its helpers. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.git.helpers.close(`${this.gitDir}\0${this.cacheKey}`)
  }
}
