import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { FileWrite } from './write-service.ts'

/** Response to a change of a file. */
export const WrittenFile = entity({
  name: 'WrittenFile',
  schema: Type.Object({
    file_path: Type.String({ description: 'Path of the file from the repository root' }),
    branch: Type.String({ description: 'Branch that received the commit' }),
  }),
  present: ({ file_path, branch }: FileWrite) => ({ file_path, branch }),
})
