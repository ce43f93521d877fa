import { Flag, List, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'

/** Paths are not validated here, because editing the tree reports errors of paths. */
const action = Params(
  {
    action: OneOf(['create', 'delete', 'move', 'update', 'chmod'], { description: 'Type of the change' }),
    file_path: Text({ description: 'Full path of the file' }),
    previous_path: Optional(Text({ description: 'Previous path for move' })),
    content: Optional(
      Text({ description: 'New content for create, update and move; a move without content keeps the content' }),
    ),
    encoding: OneOf(['text', 'base64'], { default: 'text', description: 'Encoding of the content' }),
    last_commit_id: Optional(
      Text({
        description:
          'Last known commit of the file for update, move and delete; the call fails if the file changed since',
      }),
    ),
    execute_filemode: Optional(Flag({ description: 'Executable or not, for chmod' })),
  },
  {
    needed: [
      { name: 'action', is: 'move', needs: 'previous_path' },
      { name: 'action', is: 'create', needs: 'content' },
      { name: 'action', is: 'update', needs: 'content' },
      { name: 'action', is: 'chmod', needs: 'execute_filemode' },
    ],
  },
)

/** Parameter of `POST …/commits`. */
export const actionsParam = List(action, { description: 'Changes, applied in order, all or none' })
