/** Scopes of deploy tokens. */
export const deployTokenScopes = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
] as const
export type DeployTokenScope = (typeof deployTokenScopes)[number]
