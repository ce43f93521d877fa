import type { Actor, Caller } from '../../../access/actor.ts'
import type { Statement } from '../../../db/db.ts'
import type { Sql } from '../../../db/sql.ts'
import { placeholder, template } from '../../../db/template.ts'

const anyId = placeholder<number>()

/** The properties of a caller that change the text of a statement, rather than a value in it. */
function kindOf(caller: Caller): string {
  if (caller === null) return 'anonymous'
  if (caller.deployKey) return 'deploy key'
  if (caller.deployToken) return 'deploy token'
  if (caller.admin) return 'admin'
  return caller.external ? 'external' : 'user'
}

/** Id of the account, key or token: distinguishes callers of the same kind. */
const idOf = (caller: Caller): number | undefined => caller?.deployKey?.id ?? caller?.deployToken?.id ?? caller?.id

/** A caller of the same kind without other fields, so that a template cannot contain a value of the first caller. */
function standInFor(caller: Actor): Actor {
  const { admin, external, deployKey, deployToken } = caller
  // The id of a caller without an account, which no user has.
  const kind = { id: 0, admin, external } as Actor
  if (deployKey) return { ...kind, deployKey: { id: anyId, creatorId: null } }
  return deployToken ? { ...kind, deployToken: { id: anyId, creatorId: null } } : { ...kind, id: anyId }
}

/**
 * A statement for a caller and values, composed once for each kind of caller. Unless the token of the caller is limited, `build` gets
 * a placeholder caller that has only the kind (anonymous, deploy key, deploy token, administrator, external user or user) and, as a
 * value, the id of the account, key or token; and placeholders instead of the values, which it must not look at.
 */
export function composedForCaller<Values extends readonly unknown[]>(
  build: (caller: Caller, ...values: Values) => Sql,
): (caller: Caller, ...values: Values) => Statement {
  const templates = new Map<string, (...values: unknown[]) => Statement>()
  return (caller, ...values) => {
    // The limits of a token are in the text of the statement, so it is not cached.
    if (caller?.limits) return build(caller, ...values)
    const kind = kindOf(caller)
    let made = templates.get(kind)
    if (!made) {
      const anyValues = values.map(() => placeholder())
      made = template(build(caller && standInFor(caller), ...(anyValues as unknown as Values)), anyId, ...anyValues)
      templates.set(kind, made)
    }
    return made(idOf(caller), ...values)
  }
}

/** The same for a statement that finds a record by id or path. */
export function forCaller(
  build: (caller: Caller, name: { number: number } | { path: string }) => Sql,
): (caller: Caller, idOrPath: number | string) => Statement {
  const byNumber = composedForCaller((caller, number: number) => build(caller, { number }))
  const byPath = composedForCaller((caller, path: string) => build(caller, { path }))
  return (caller, idOrPath) => (typeof idOrPath === 'number' ? byNumber(caller, idOrPath) : byPath(caller, idOrPath))
}
