import type { Visibility } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { tooLong, violationsOf } from '../../../kernel/violations.ts'
import { textViolations } from '../../discussion/index.ts'
import { restrictedVisibility } from '../../namespaces/index.ts'
import type { FileChange } from './changes.ts'

/** Maximum characters. */
const longestName = 255

/** `1.18 MB`, as clients know it: three significant digits, multiples of 1024. */
export function humanSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 Byte' : `${bytes} Bytes`
  const units = ['KB', 'MB', 'GB', 'TB']
  const exponent = Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), units.length)
  return `${Number((bytes / 1024 ** exponent).toPrecision(3))} ${units[exponent - 1]}`
}

export const tooBig = (bytes: number, limit: number): string =>
  `is too long (${humanSize(bytes)}). The maximum size is ${humanSize(limit)}.`

type Written = {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
  readonly files?: FileChange | undefined
}

/** Fails with all violations of the given attributes and contents. */
export function requireValid(ctx: Ctx, { title, description, visibility, files }: Written): void {
  const named = files === undefined ? [] : 'actions' in files ? files.actions : [files]
  const names = named.flatMap((file) => ('file_path' in file ? file.file_path : (file.fileName ?? [])))
  const sizes = named.flatMap(({ content }) => (content === undefined ? [] : Buffer.byteLength(content)))
  const limit = ctx.settings.snippet_size_limit
  const violations = violationsOf({
    ...textViolations({ title, description }),
    file_name: names.some((name) => [...name].length > longestName) ? [tooLong(longestName)] : [],
    content: sizes.filter((size) => size > limit).map((size) => tooBig(size, limit)),
    visibility_level: visibility === undefined ? [] : restrictedVisibility(ctx, visibility),
  })
  if (violations) throw invalidFields(violations)
}
