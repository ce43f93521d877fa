/** What an access token permits. */
export const scopes = [
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'sudo',
] as const
export type Scope = (typeof scopes)[number]

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

/** True if a credential with these scopes (`undefined`: the account itself) has at least one of `wanted`. */
export const reaches = (held: ReadonlySet<Scope> | undefined, wanted: readonly Scope[]): boolean =>
  held === undefined || wanted.some((scope) => held.has(scope))

/** Scopes that permit Git reads, on every transport; one is enough. */
export const pullScopes: readonly Scope[] = ['api', 'read_api', 'read_repository', 'write_repository']
export const pushScopes: readonly Scope[] = ['api', 'write_repository']

/** Scopes that permit container registry operations. Deletion needs the whole API, because it takes more than a push. */
export const registryScopes = {
  pull: ['api', 'read_registry'],
  push: ['api', 'write_registry'],
  delete: ['api'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>
