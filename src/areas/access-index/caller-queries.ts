import type { Caller } from '../../access/actor.ts'
import type { Statement } from '../../db/db.ts'
import type { Sql } from '../../db/sql.ts'
import { placeholder, template } from '../../db/template.ts'

const anyId = placeholder<number>()
const anyNumber = placeholder<number>()
const anyText = placeholder<string>()

/** What of a caller decides the text of a statement, rather than a value in it. */
const kindOf = (caller: Caller): string =>
  caller === null
    ? 'nobody'
    : caller.deployKey
      ? 'deploy key'
      : caller.admin
        ? 'admin'
        : caller.external
          ? 'external'
          : 'user'

/**
 * A statement that finds something by number or path for a caller, composed once for each kind of caller and name.
 * `build` must use of the caller nothing but his kind (nobody, deploy key, admin, external) and, as a value, his id or the
 * key's.
 */
export function forCaller(
  build: (caller: Caller, name: { number: number } | { path: string }) => Sql,
): (caller: Caller, idOrPath: number | string) => Statement {
  const templates = new Map<string, (...values: unknown[]) => Statement>()
  return (caller, idOrPath) => {
    const byNumber = typeof idOrPath === 'number'
    const key = `${kindOf(caller)} ${byNumber}`
    let made = templates.get(key)
    if (!made) {
      const standIn = caller && {
        ...caller,
        ...(caller.deployKey ? { deployKey: { ...caller.deployKey, id: anyId } } : { id: anyId }),
      }
      const name = byNumber ? { number: anyNumber } : { path: anyText }
      made = template(build(standIn, name), anyId, byNumber ? anyNumber : anyText)
      templates.set(key, made)
    }
    return made(caller?.deployKey?.id ?? caller?.id, idOrPath)
  }
}
