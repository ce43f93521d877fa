import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { FilePatch } from '../../../git/history/patch-reader.ts'

/** What one file went through. */
export const DiffEntry = entity({
  name: 'DiffEntry',
  schema: Type.Object({
    diff: Type.String({ description: 'Diff hunks; empty if there are none or the limit is exceeded' }),
    old_path: Type.String({ description: 'Path before the change' }),
    new_path: Type.String({ description: 'Path after the change' }),
    a_mode: Type.String({ description: 'Six octal digits; 0 for a new file' }),
    b_mode: Type.String({ description: 'Six octal digits; 0 for a deleted file' }),
    new_file: Type.Boolean({ description: 'True if the file was added' }),
    renamed_file: Type.Boolean({ description: 'True if the file was renamed' }),
    deleted_file: Type.Boolean({ description: 'True if the file was deleted' }),
  }),
  present: ({ change, text }: FilePatch) => ({
    diff: text,
    old_path: shownPath(change.oldPath),
    new_path: shownPath(change.newPath),
    a_mode: modeOf(change.oldMode),
    b_mode: modeOf(change.newMode),
    new_file: change.status === 'added',
    renamed_file: change.status === 'renamed',
    deleted_file: change.status === 'deleted',
  }),
})

const modeOf = (mode: string): string => (mode === '000000' ? '0' : mode)
