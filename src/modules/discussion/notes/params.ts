import { FilePath, Optional, Text, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'

const path = (description: string) => Optional(FilePath({ maxLength: maxPathLength, description }))
const line = (description: string) => Optional(Whole({ minimum: 1, description }))

/** A line of a diff. */
export const lineParams = {
  old_path: path('Old path'),
  new_path: path('New path'),
  old_line: line('Old line number; alone, it is a removed line'),
  new_line: line('New line number; alone, it is an added line'),
}

export const discussionId = Text({ description: 'ID of the discussion' })
export const noteBody = Text({ description: 'Text (Markdown)' })
