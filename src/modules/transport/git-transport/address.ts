export type Service = 'git-upload-pack' | 'git-receive-pack'

/**
 * The characters of full paths only: excludes escapes and dot segments. One segment alone can only be the wiki of a group. For
 * use in a RegExp.
 */
export const repositoryPath = '((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]+?|[A-Za-z0-9_.-]+?[.]wiki)'
