import type { Caller } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import { nameGlob } from '../../../kernel/glob.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { accessLevels } from './levels.ts'
import { type AccessRow, findProtectedRefs, type ProtectedRefRow, type RefAction, type RefKind } from './queries.ts'

/** Rules that protect the refs of a project, evaluated for the caller. */
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
    return this.#rules.filter((rule) => rule.kind === kind && nameGlob(rule.name)(name))
  }

  isProtected(kind: RefKind, name: string): boolean {
    return this.#rules.some((rule) => rule.kind === kind && nameGlob(rule.name)(name))
  }

  /** Whether any rule that covers the name grants the caller the action: the most permissive rule counts. */
  grants(action: RefAction, kind: RefKind, name: string): boolean {
    return this.covering(kind, name).some((rule) => isGranted(rule, action, this.#caller, this.#level))
  }

  /** Whether any rule that covers the name grants the action to all developers. */
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

/** Which refs are protected, for work without a caller. One statement. */
export const loadProtected = async (db: Db, projectId: number): Promise<Pick<Protections, 'isProtected'>> =>
  new Protections(await findProtectedRefs(db, projectId, null), null, 0)

/**
 * Whether a rule grants the caller an action. Administrators have every action that any role has, but not those that no
 * role has, except that they can always unprotect: otherwise no one could ever change or remove the rule.
 */
export const isGranted = (
  rule: Pick<ProtectedRefRow, 'access'>,
  action: RefAction,
  caller: Caller,
  level: number,
): boolean =>
  caller !== null &&
  ((action === 'unprotect' && caller.admin) ||
    rule.access.some((row) => row.action === action && includes(row, caller.admin, level)))

function includes({ access_level, includes_caller }: AccessRow, admin: boolean, level: number): boolean {
  if (access_level === accessLevels.noOne) return false
  return admin || (access_level === null ? includes_caller : level >= access_level)
}
