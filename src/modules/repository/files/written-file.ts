import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { FileWrite } from './write-service.ts'

/** Response to a change of a file. */
export const WrittenFile = entity({
  name: 'WrittenFile',
  schema: Type.Object({ file_path: Type.String(), branch: Type.String() }),
  present: ({ file_path, branch }: FileWrite) => ({ file_path, branch }),
})
