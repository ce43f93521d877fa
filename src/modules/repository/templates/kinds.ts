/** Kinds of file templates, with their folder in a project of templates and their file extension. */
export const kinds = {
  dockerfiles: { folder: 'Dockerfile', extension: '.dockerfile' },
  gitignores: { folder: 'gitignore', extension: '.gitignore' },
  gitlab_ci_ymls: { folder: 'gitlab-ci', extension: '.yml' },
  licenses: { folder: 'LICENSE', extension: '.txt' },
} as const

export type Kind = keyof typeof kinds
export const kindNames = Object.keys(kinds) as Kind[]

/** Kinds of templates in a project's own repository. */
export const ownKinds = {
  issues: { folder: '.gitlab/issue_templates', extension: '.md' },
  merge_requests: { folder: '.gitlab/merge_request_templates', extension: '.md' },
} as const

export type OwnKind = keyof typeof ownKinds

export const isOwnKind = (kind: Kind | OwnKind): kind is OwnKind => Object.hasOwn(ownKinds, kind)

/** A template without its text. */
export type Template = {
  /** Name of its file without the extension. */
  readonly key: string
  read(): Promise<string>
}
