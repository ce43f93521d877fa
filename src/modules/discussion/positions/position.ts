import { shownPath } from '../../../git/format/text.ts'
import type { FilePatch } from '../../../git/history/patch-reader.ts'
import { type ChangedLine, linesOf } from './diff-lines.ts'

/** Commits of a diff. */
export type Ends = {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
}

type Paths = { readonly old_path: string; readonly new_path: string }

/** Position in the text of a diff, in the format of the API. */
export type TextPosition = Ends &
  Paths & {
    readonly position_type: 'text'
    /** Null for an added line. */
    readonly old_line: number | null
    /** Null for a removed line. */
    readonly new_line: number | null
  }

/** A point in an image, with the size of the image according to the client. */
type Point = { readonly width: number; readonly height: number; readonly x: number; readonly y: number }

export type ImagePosition = Ends & Paths & Point & { readonly position_type: 'image' }

export type Position = TextPosition | ImagePosition

/** Where a note is in a diff. `changedLine` is the same line as comments of commits name it, if the diff changes it. */
export type NotePlace = { readonly position: Position | null; readonly changedLine?: ChangedLine | undefined }

/** A requested position. */
export type WantedLine = Ends & Partial<Paths> & { readonly old_line?: number; readonly new_line?: number }
export type WantedPoint = Ends & Partial<Paths> & Partial<Point>
export type WantedPlace = WantedLine & WantedPoint & { readonly position_type: 'text' | 'image' }

/** A line of a diff. */
export type LinePlace = NotePlace & { readonly position: TextPosition }

const endsOf = ({ base_sha, start_sha, head_sha }: Ends): Ends => ({ base_sha, start_sha, head_sha })

/** The matching files: several, if a file changed its type. */
function* filesAt(files: readonly FilePatch[], wanted: Partial<Paths>): Generator<{ paths: Paths; hunks: string }> {
  for (const { change, text } of files) {
    const paths = { old_path: shownPath(change.oldPath), new_path: shownPath(change.newPath) }
    if (wanted.old_path === undefined && wanted.new_path === undefined) continue
    if (wanted.new_path !== undefined && wanted.new_path !== paths.new_path) continue
    if (wanted.old_path !== undefined && wanted.old_path !== paths.old_path) continue
    yield { paths, hunks: text }
  }
}

/**
 * The requested line, or `undefined` if these files of a diff do not show it. One line number means an added or removed
 * line, both an unchanged one.
 */
export function findLine(files: readonly FilePatch[], wanted: WantedLine): LinePlace | undefined {
  const { old_line = null, new_line = null } = wanted
  if (old_line === null && new_line === null) return undefined
  const kind = old_line === null ? 'new' : new_line === null ? 'old' : 'context'
  for (const { paths, hunks } of filesAt(files, wanted)) {
    const line = linesOf(hunks).find(
      (each) =>
        each.kind === kind &&
        (old_line === null || each.oldPosition === old_line) &&
        (new_line === null || each.newPosition === new_line),
    )
    if (!line) continue
    return {
      position: { ...endsOf(wanted), ...paths, position_type: 'text', old_line, new_line },
      changedLine: kind === 'context' ? undefined : { path: paths.new_path, line: line.newPosition, kind },
    }
  }
  return undefined
}

/** The requested point, or `undefined` if it is invalid or in no file of the diff. */
export function findPoint(files: readonly FilePatch[], wanted: WantedPoint): ImagePosition | undefined {
  const { width, height, x, y } = wanted
  if (width === undefined || height === undefined || x === undefined || y === undefined) return undefined
  if (x > width || y > height) return undefined
  const [file] = filesAt(files, wanted)
  return file && { ...endsOf(wanted), ...file.paths, position_type: 'image', width, height, x, y }
}

const isOid = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)
const isPath = (value: unknown): boolean => typeof value === 'string' && value.length <= 4096
const isCount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31

/** Whether a value from elsewhere is a line that comments of commits can show. */
export function isChangedLine(value: unknown): value is ChangedLine {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { path, line, kind, ...rest } = value as Record<string, unknown>
  return isPath(path) && isCount(line) && (kind === 'new' || kind === 'old') && Object.keys(rest).length === 0
}

/** Whether a value from elsewhere is a position that records can show. */
export function isPosition(value: unknown): value is Position {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const position = value as Record<string, unknown>
  const { base_sha, start_sha, head_sha, old_path, new_path, position_type: type, ...rest } = position
  if (![base_sha, start_sha, head_sha].every(isOid) || ![old_path, new_path].every(isPath)) return false
  const names = Object.keys(rest).toSorted().join()
  if (type === 'image') return names === 'height,width,x,y' && Object.values(rest).every(isCount)
  return (
    type === 'text' &&
    names === 'new_line,old_line' &&
    Object.values(rest).every((line) => line === null || isCount(line)) &&
    Object.values(rest).some((line) => line !== null)
  )
}
