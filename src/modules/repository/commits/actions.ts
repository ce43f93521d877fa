import { Flag, List, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'

/** Paths are not looked at here: what is wrong with one is said by whoever edits the tree. */
const action = Params(
  {
    action: OneOf(['create', 'delete', 'move', 'update', 'chmod'], { description: 'What to do' }),
    file_path: Text({ description: 'Full path of the file' }),
    previous_path: Optional(Text({ description: 'Where the file was; for move' })),
    content: Optional(
      Text({ description: 'New content; for create, update and move. A move without keeps what the file has' }),
    ),
    encoding: OneOf(['text', 'base64'], { default: 'text', description: 'Of the content' }),
    last_commit_id: Optional(
      Text({ description: 'The last commit of the file that the caller knows; for update, move and delete' }),
    ),
    execute_filemode: Optional(Flag({ description: 'Whether the file is executable; for chmod' })),
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

/** Of `POST …/commits`. */
export const actionsParam = List(action, { description: 'Done one after another, all or none' })
