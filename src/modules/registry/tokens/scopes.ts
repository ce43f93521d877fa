/** What a client asks for. */
export type AskedScope = { readonly type: string; readonly name: string; readonly actions: readonly string[] }

/** `repository:group/project/image:pull,push`. A type may have a class, and a name a port. */
const form = /^([a-z0-9]+)(?:\([a-z0-9]+\))?:([^\s:][^\s]*):([a-z*,]*)$/

/** Longest scope, in characters. */
const maxLength = 1024
/** Clients ask for two at most; each costs a statement. */
const maxScopes = 20

/** The scopes in the parameters of a token request, each of which may have several. Malformed ones are left out. */
export function parseScopes(values: readonly string[]): AskedScope[] {
  return values
    .flatMap((value) => value.split(' '))
    .filter((text) => text !== '' && text.length <= maxLength)
    .slice(0, maxScopes)
    .flatMap((text) => {
      const [, type, name, actions] = form.exec(text) ?? []
      if (type === undefined || name === undefined || actions === undefined) return []
      return [{ type, name, actions: [...new Set(actions.split(',').filter((action) => action !== ''))] }]
    })
}
