import type { Oid } from '../../../git/format/oid.ts'
import type { ArchiveFormat } from '../../../git/transfer/archive.ts'

/** Suffixes after `archive.`, with their formats. */
export const archiveSuffixes = {
  'tar.gz': 'tar.gz',
  gz: 'tar.gz',
  tgz: 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  tar: 'tar',
  zip: 'zip',
} as const satisfies Record<string, ArchiveFormat>

export type ArchiveSuffix = keyof typeof archiveSuffixes

export const suffixes = Object.keys(archiveSuffixes) as readonly ArchiveSuffix[]

/**
 * Name of the top directory of an archive and, with the suffix, of the file: `<project>-<ref>-<commit>[-<path>]`, the
 * ref as the caller wrote it, with `-` for each `/`.
 */
export const archiveName = (project: string, ref: string, commit: Oid, path: string | undefined): string =>
  [project, ref, commit, ...(path === undefined ? [] : [path])].join('-').replaceAll('/', '-')

/** Media type that makes clients save the file rather than open it. */
export const contentTypeOf = (format: ArchiveFormat): string =>
  format === 'zip' ? 'application/zip' : 'application/octet-stream'
