import type { Ctx } from '../../../api/ctx.ts'
import { loadProtected } from '../../pushes/index.ts'
import type { BranchSet } from './kinds.ts'
import { defaultBranchOf } from './queries.ts'

/** Which branches of a project are the default one and protected ones, now. */
export class ServedBranches {
  readonly #main: string | null
  readonly #isProtected: (branch: string) => boolean

  private constructor(main: string | null, isProtected: (branch: string) => boolean) {
    this.#main = main
    this.#isProtected = isProtected
  }

  /** Two statements, one of them cached. */
  static async load(ctx: Ctx, projectId: number): Promise<ServedBranches> {
    const main = await defaultBranchOf(ctx.db, projectId)
    const protections = await loadProtected(ctx.db, projectId)
    return new ServedBranches(main, (branch) => protections.isProtected('branch', branch))
  }

  has(set: BranchSet, branch: string): boolean {
    switch (set) {
      case 'all':
        return true
      case 'default':
        return branch === this.#main
      case 'protected':
        return this.#isProtected(branch)
      case 'default_and_protected':
        return branch === this.#main || this.#isProtected(branch)
    }
  }
}
