import { join } from 'node:path'
import type { GitContext } from './context.ts'
import { quoteAlternate, Repository } from './repository.ts'

/**
 * Several repositories read as one: all their objects by id, and no refs, so that one process can search all. Objects of a
 * repository that has been removed are missing. Dispose it after use.
 */
export class RepositoryUnion extends Repository {
  private constructor(git: GitContext, emptyDir: string, members: readonly Repository[], signal?: AbortSignal) {
    super(git, emptyDir, {
      env: {
        GIT_ALTERNATE_OBJECT_DIRECTORIES: members
          .map(({ gitDir }) => quoteAlternate(join(gitDir, 'objects')))
          .join(':'),
      },
      // All members were opened for the same caller.
      caller: members[0]?.caller ?? '',
      ...(signal && { signal }),
    })
  }

  /** `signal`: see `Repository.withSignal`. */
  static async of(git: GitContext, members: readonly Repository[], signal?: AbortSignal): Promise<RepositoryUnion> {
    return new RepositoryUnion(git, await git.emptyDir(), members, signal)
  }

  /** Ends its helpers. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.git.helpers.close(`${this.gitDir}\0${this.cacheKey}`)
  }
}
