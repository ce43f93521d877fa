import { isTreePath } from './path-bytes.ts'
import { maxPathLength } from './path-length.ts'

/** Limit of the file systems on which users check out. */
const maxSegmentBytes = 255

/**
 * Whether a file may be created at `path`: relative, and without a segment that git treats as its own directory on any system
 * (`.git` in any case, with characters that HFS+ ignores, with suffixes that NTFS drops, or by its short name), as `git fsck`
 * checks pushes. Also rejects control characters, ill-formed text, and paths too long to check out.
 */
export const isSafePath = (path: string): boolean =>
  path.isWellFormed() &&
  isTreePath(path) &&
  Buffer.byteLength(path) <= maxPathLength &&
  !/[\r\n]/.test(path) &&
  path.split('/').every((segment) => Buffer.byteLength(segment) <= maxSegmentBytes && !isDotGit(segment))

/** Characters that HFS+ ignores when it compares names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** NTFS ends a name at a colon, drops trailing dots and blanks, and also knows `.git` as `git~1`. */
const isDotGit = (segment: string): boolean =>
  segment.replaceAll(ignoredByHfs, '').toLowerCase() === '.git' ||
  segment.split('\\').some((piece) => /^(\.git|git~1)[. ]*(:|$)/i.test(piece))

/**
 * Whether git may read the file itself (`.gitmodules`, `.gitattributes`) under this name on some system. Matches more names
 * than git, never fewer. The content of such a file must be checked.
 */
export const isReadByGit = (segment: string): boolean =>
  segment
    .replaceAll(ignoredByHfs, '')
    .split('\\')
    .some((piece) => /^(\.git(modules|attributes)|gi\w*~\d)/i.test(piece))
