import { epicPolicy } from '../../../access/epic-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { QuickActions } from '../../discussion/index.ts'
import { asNoteable } from '../epics/noteable.ts'
import { type EpicEdit, editEpic } from '../epics/service.ts'
import type { EpicSubject } from '../epics/subject.ts'
import { type Command, type Commanded, commandSet, type Right, type SharedEdit } from '../quick-actions/command.ts'
import { commonCommands } from '../quick-actions/shared.ts'

type Edit = SharedEdit & { -readonly [K in keyof Omit<EpicEdit, keyof SharedEdit>]: EpicEdit[K] }
type Subject = Commanded<Edit> & { readonly epic: EpicSubject }
type EpicCommand = Command<Edit, Subject>

const abilities = {
  read: 'read_epic',
  update: 'update_epic',
  admin: 'update_epic',
  reopen: 'update_epic',
  award: 'award',
} as const satisfies Record<Right, keyof typeof epicPolicy>

const confidential: EpicCommand = {
  names: ['confidential'],
  needs: 'update',
  plan({ edit }) {
    edit.confidential = true
    return { says: 'Made this epic confidential.' }
  },
}

const commands = commandSet<Edit, Subject>([...commonCommands, confidential])

/** Their names. */
export const epicActionNames: ReadonlySet<string> = commands.names

/** The quick actions of an epic, with the facts of the caller. */
export const epicActions = (subject: EpicSubject): QuickActions =>
  commands.of({
    noteable: { ...asNoteable(subject), iid: subject.iid },
    noun: 'epic',
    place: { of: 'group', id: subject.group_id, full_path: subject.group.full_path },
    state: subject.state,
    may: (ctx, right) => allows(epicPolicy[abilities[right]], ctx.actor, subject.facts),
    update: (ctx, edit) => editEpic(ctx, subject, edit),
    epic: subject,
  })
