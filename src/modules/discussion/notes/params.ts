import { FilePath, Optional, Text, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { isPlanned, type NoteableType } from '../noteables/kinds.ts'

const path = (description: string) => Optional(FilePath({ maxLength: maxPathLength, description }))
const line = (description: string) => Optional(Whole({ minimum: 1, description }))

/** A line of a diff. */
export const lineParams = {
  old_path: path('Path of the file before the change'),
  new_path: path('Path of the file after the change'),
  old_line: line('Old line number; alone, it is a removed line'),
  new_line: line('New line number; alone, it is an added line'),
}

export const discussionId = Text({ description: 'ID of the discussion' })
export const noteBody = Text({ description: 'Text of the note in Markdown' })

/** For the documentation of endpoints that take a text: only planned kinds have quick actions. */
export const quickActionsOf = (type: NoteableType): { description?: string } =>
  isPlanned(type) ? { description: quickActions } : {}

export const quickActions =
  'Lines that begin with a slash and the name of a quick action, such as `/close`, are applied and removed from the text; a text of nothing else creates no note.'
