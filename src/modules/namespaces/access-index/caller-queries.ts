import type { Actor, Caller } from '../../../access/actor.ts'
import type { Statement } from '../../../db/db.ts'
import type { Sql } from '../../../db/sql.ts'
import { placeholder, template } from '../../../db/template.ts'

const anyId = placeholder<number>()
const anyNumber = placeholder<number>()
const anyText = placeholder<string>()

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
  const kind = { admin, external } as Actor
  if (deployKey) return { ...kind, deployKey: { id: anyId, creatorId: null } }
  return deployToken ? { ...kind, deployToken: { id: anyId, creatorId: null } } : { ...kind, id: anyId }
}

/**
 * A statement that finds a record by id or path for a caller, composed once for each kind of caller and name. Unless
 * the token of the caller is limited, `build` gets a placeholder caller that has only the kind (anonymous, deploy key,
 * deploy token, administrator, external user or user) and, as a value, the id of the account, key or token.
 */
export function forCaller(
  build: (caller: Caller, name: { number: number } | { path: string }) => Sql,
): (caller: Caller, idOrPath: number | string) => Statement {
  const templates = new Map<string, (...values: unknown[]) => Statement>()
  return (caller, idOrPath) => {
    const byNumber = typeof idOrPath === 'number'
    // The limits of a token are in the text of the statement, so it is not cached.
    if (caller?.limits) return build(caller, byNumber ? { number: idOrPath } : { path: idOrPath })
    const key = `${kindOf(caller)} ${byNumber}`
    let made = templates.get(key)
    if (!made) {
      const standIn = caller && standInFor(caller)
      const name = byNumber ? { number: anyNumber } : { path: anyText }
      made = template(build(standIn, name), anyId, byNumber ? anyNumber : anyText)
      templates.set(key, made)
    }
    return made(idOf(caller), idOrPath)
  }
}
