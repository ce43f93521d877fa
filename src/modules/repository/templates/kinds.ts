/** Kinds of templates of files, with the folder of a project of templates that holds them, and the end of their names. */
export const kinds = {
  dockerfiles: { folder: 'Dockerfile', extension: '.dockerfile' },
  gitignores: { folder: 'gitignore', extension: '.gitignore' },
  gitlab_ci_ymls: { folder: 'gitlab-ci', extension: '.yml' },
  licenses: { folder: 'LICENSE', extension: '.txt' },
} as const

export type Kind = keyof typeof kinds
export const kindNames = Object.keys(kinds) as Kind[]

/** Kinds that a project has for itself, in its own code. */
export const ownKinds = {
  issues: { folder: '.gitlab/issue_templates', extension: '.md' },
  merge_requests: { folder: '.gitlab/merge_request_templates', extension: '.md' },
} as const

export type OwnKind = keyof typeof ownKinds

export const isOwnKind = (kind: Kind | OwnKind): kind is OwnKind => Object.hasOwn(ownKinds, kind)

/** A template without its text. */
export type Template = {
  /** How it is asked for: the name of its file without the extension. */
  readonly key: string
  read(): Promise<string>
}
