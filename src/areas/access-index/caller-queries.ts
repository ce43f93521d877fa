import type { Actor, Caller } from '../../access/actor.ts'
import type { Statement } from '../../db/db.ts'
import type { Sql } from '../../db/sql.ts'
import { placeholder, template } from '../../db/template.ts'

const anyId = placeholder<number>()
const anyNumber = placeholder<number>()
const anyText = placeholder<string>()

/** What of a caller decides the text of a statement, rather than a value in it. */
function kindOf(caller: Caller): string {
  if (caller === null) return 'nobody'
  if (caller.deployKey) return 'deploy key'
  if (caller.deployToken) return 'deploy token'
  if (caller.admin) return 'admin'
  return caller.external ? 'external' : 'user'
}

/** By which a caller is told from others of his kind. */
const idOf = (caller: Caller): number | undefined => caller?.deployKey?.id ?? caller?.deployToken?.id ?? caller?.id

const withId = (caller: Actor, id: number): Actor => {
  const { deployKey, deployToken } = caller
  if (deployKey) return { ...caller, deployKey: { ...deployKey, id } }
  return deployToken ? { ...caller, deployToken: { ...deployToken, id } } : { ...caller, id }
}

/**
 * A statement that finds something by number or path for a caller, composed once for each kind of caller and name.
 * `build` must use of the caller, unless his token is limited, nothing but his kind (nobody, deploy key, deploy token, admin, external) and, as a value,
 * his id or that of the key or token.
 */
export function forCaller(
  build: (caller: Caller, name: { number: number } | { path: string }) => Sql,
): (caller: Caller, idOrPath: number | string) => Statement {
  const templates = new Map<string, (...values: unknown[]) => Statement>()
  return (caller, idOrPath) => {
    const byNumber = typeof idOrPath === 'number'
    // What a token is limited to is in the text, so that each has one of its own.
    if (caller?.limits) return build(caller, byNumber ? { number: idOrPath } : { path: idOrPath })
    const key = `${kindOf(caller)} ${byNumber}`
    let made = templates.get(key)
    if (!made) {
      const standIn = caller && withId(caller, anyId)
      const name = byNumber ? { number: anyNumber } : { path: anyText }
      made = template(build(standIn, name), anyId, byNumber ? anyNumber : anyText)
      templates.set(key, made)
    }
    return made(idOf(caller), idOrPath)
  }
}
