import { FilePath, Flag, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { isPlanned, type NoteableType } from '../noteables/kinds.ts'

const path = (description: string) => Optional(FilePath({ maxLength: maxPathLength, description }))
const line = (description: string) => Optional(Whole({ minimum: 1, description }))

/** A line of a diff. */
const lineParams = {
  old_path: path('Path of the file before the change'),
  new_path: path('Path of the file after the change'),
  old_line: line('Old line number; alone, it is a removed line'),
  new_line: line('New line number; alone, it is an added line'),
}

const sizeOrPlace = (description: string) => Optional(Whole({ minimum: 0, description }))

/** Positions in the diff of a version. */
export const positionInVersion = Optional(
  Params(
    {
      base_sha: Text({ description: 'Merge base of a diff version' }),
      start_sha: Text({ description: 'Head of the target branch in that version' }),
      head_sha: Text({ description: 'Head of the source branch in that version' }),
      position_type: OneOf(['text', 'image'], { description: 'text for a line, image for a point of an image' }),
      ...lineParams,
      width: sizeOrPlace('Width of the image in pixels'),
      height: sizeOrPlace('Height of the image in pixels'),
      x: sizeOrPlace('Distance of the point from the left edge in pixels'),
      y: sizeOrPlace('Distance of the point from the upper edge in pixels'),
    },
    { description: 'Line or point of the diff; default: the whole merge request' },
  ),
)

/** Positions in the diff of a commit. */
export const positionInCommit = Optional(
  Params(
    {
      base_sha: Text({ description: 'First parent of the commit' }),
      start_sha: Text({ description: 'Same as `base_sha`' }),
      head_sha: Text({ description: 'Full hash of the commit' }),
      position_type: OneOf(['text'], { description: 'Position on a line of text' }),
      ...lineParams,
    },
    { atLeastOneOf: ['old_line', 'new_line'], description: 'Line of the diff; default: the whole commit' },
  ),
)

export const discussionId = Text({ description: 'ID of the discussion' })
export const noteBody = Text({ description: 'Text of the note in Markdown' })

const notInternal = Optional(
  Flag({
    description: 'Only false: internal notes are not available',
    onlyFalse: 'internal notes are not available',
  }),
)

/** What newer and older clients send with a note that only members may read. It would be public if they were ignored. */
export const internalFlags = { internal: notInternal, confidential: notInternal }

/** For the documentation of endpoints that take a text: only planned kinds have quick actions. */
export const quickActionsOf = (type: NoteableType): string => (isPlanned(type) ? quickActions : '')

/** The description of an endpoint, of these sentences. */
export function describedBy(...sentences: readonly string[]): { description?: string } {
  const description = sentences.filter((each) => each !== '').join(' ')
  return description === '' ? {} : { description }
}

const quickActions =
  'Lines that begin with a slash and the name of a quick action, such as `/close`, are applied and removed from the text; a text of nothing else creates no note.'
