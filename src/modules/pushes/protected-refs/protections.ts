import type { Caller } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { accessLevels } from './levels.ts'
import { matchesPattern } from './pattern.ts'
import { type AccessRow, findProtectedRefs, type ProtectedRefRow, type RefAction, type RefKind } from './queries.ts'

/** What protects the refs of a project, as far as the caller is concerned. */
export class Protections {
  readonly #rules: readonly ProtectedRefRow[]
  readonly #caller: Caller
  readonly #level: number

  /** `level` is the caller's in the project. */
  constructor(rules: readonly ProtectedRefRow[], caller: Caller, level: number) {
    this.#rules = rules
    this.#caller = caller
    this.#level = level
  }

  /** Every rule that covers a name. */
  covering(kind: RefKind, name: string): readonly ProtectedRefRow[] {
    return this.#rules.filter((rule) => rule.kind === kind && matchesPattern(rule.name, name))
  }

  isProtected(kind: RefKind, name: string): boolean {
    return this.#rules.some((rule) => rule.kind === kind && matchesPattern(rule.name, name))
  }

  /** Whether some rule that covers the name gives the caller the action: the most permissive one counts. */
  grants(action: RefAction, kind: RefKind, name: string): boolean {
    return this.covering(kind, name).some((rule) => isGranted(rule, action, this.#caller, this.#level))
  }

  /** Whether every developer has the action by some rule that covers the name. */
  grantsDevelopers(action: RefAction, name: string): boolean {
    return this.covering('branch', name).some(({ access }) =>
      access.some((row) => row.action === action && row.access_level === accessLevels.developers),
    )
  }
}

/** One statement. */
export const loadProtections = async (
  ctx: Ctx,
  project: { readonly id: number; readonly facts: ProjectSubject['facts'] },
): Promise<Protections> =>
  new Protections(await findProtectedRefs(ctx.db, project.id, ctx.actor), ctx.actor, project.facts.level)

/** Whether one rule gives somebody an action. Administrators have what anybody has, but not what nobody has. */
export const isGranted = (rule: ProtectedRefRow, action: RefAction, caller: Caller, level: number): boolean =>
  caller !== null && rule.access.some((row) => row.action === action && includes(row, caller.admin, level))

function includes({ access_level, includes_caller }: AccessRow, admin: boolean, level: number): boolean {
  if (access_level === accessLevels.nobody) return false
  return admin || (access_level === null ? includes_caller : level >= access_level)
}
