import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { SuggestionRow } from './queries.ts'

export const Suggestion = entity({
  name: 'Suggestion',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the suggestion' }),
    from_line: Type.Integer({ description: 'First line that it replaces, in the head of the merge request' }),
    to_line: Type.Integer({ description: 'Last line that it replaces' }),
    appliable: Type.Boolean({
      description: 'False if it was applied, its lines have changed since, or the merge request is not open',
    }),
    applied: Type.Boolean({ description: 'True if it was applied' }),
    from_content: Type.String({ description: 'The lines that it replaces' }),
    to_content: Type.String({ description: 'The new lines; empty if it deletes them' }),
  }),
  present: (row: SuggestionRow) => row,
})
