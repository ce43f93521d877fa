export type Service = 'git-upload-pack' | 'git-receive-pack'

/** The letters of full paths, and nothing else: no escape, no dot segment reaches further. For use in a RegExp. */
export const repositoryPath = '((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]+?)'
