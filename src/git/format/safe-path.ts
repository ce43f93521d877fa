import { isTreePath } from './path-bytes.ts'

/** What systems that people check out on can store. */
const maxPathBytes = 4096
const maxSegmentBytes = 255

/**
 * Whether a file may come to be at `path`: relative, and nothing in it that git takes for its own directory on any
 * system (`.git` in any case, with characters that HFS+ ignores, with what NTFS drops, by its short name), as
 * `git fsck` checks of a push. Longer than what can be checked out, control characters and what is no text are refused, too.
 */
export const isSafePath = (path: string): boolean =>
  path.isWellFormed() &&
  isTreePath(path) &&
  Buffer.byteLength(path) <= maxPathBytes &&
  !/[\r\n]/.test(path) &&
  path.split('/').every((segment) => Buffer.byteLength(segment) <= maxSegmentBytes && !isDotGit(segment))

/** Characters that HFS+ leaves out when it compares names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** NTFS ends a name at a colon, drops dots and blanks behind it, and knows `.git` as `git~1` as well. */
const isDotGit = (segment: string): boolean =>
  segment.replaceAll(ignoredByHfs, '').toLowerCase() === '.git' ||
  segment.split('\\').some((piece) => /^(\.git|git~1)[. ]*(:|$)/i.test(piece))

/**
 * Whether git reads the file itself (`.gitmodules`, `.gitattributes`) under this name on some system; more names than
 * that, never fewer. Of such a file the content has to be checked.
 */
export const isReadByGit = (segment: string): boolean =>
  segment
    .replaceAll(ignoredByHfs, '')
    .split('\\')
    .some((piece) => /^(\.git(modules|attributes)|gi\w*~\d)/i.test(piece))
