import { FilePath, Optional, Text, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../commits/path-length.ts'

const path = (description: string) => Optional(FilePath({ maxLength: maxPathLength, description }))
const line = (description: string) => Optional(Whole({ minimum: 1, description }))

/** A line of a diff. */
export const lineParams = {
  old_path: path('File before'),
  new_path: path('File now'),
  old_line: line('Line before; without `new_line`, one that was removed'),
  new_line: line('Line now; without `old_line`, one that was added'),
}

export const discussionId = Text({ description: 'Id of the discussion' })
export const noteBody = Text({ description: 'What is said' })
