import { epicPolicy } from '../../../access/epic-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { ActionsInTransaction, QuickActions } from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { asNoteable } from '../epics/noteable.ts'
import { type EpicEdit, editEpic } from '../epics/service.ts'
import { type EpicSubject, epicNotFound, loadEpicById } from '../epics/subject.ts'
import { changeableEpic, holdTree } from '../epics/tree.ts'
import { type Command, type Commanded, commandSet, type Right, type SharedEdit } from '../quick-actions/command.ts'
import { commonCommands, confidential, epicNamed } from '../quick-actions/shared.ts'

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

const childEpic: EpicCommand = {
  names: ['child_epic'],
  needs: 'update',
  async plan({ ctx, subject, argument }) {
    const child = await epicNamed(ctx, subject, argument)
    if (!child) return undefined
    return {
      says: `Added ${argument} as child epic.`,
      run: async (context) =>
        editEpic(context, await changeableEpic(context, child.id), { parent_id: subject.epic.id }),
    }
  },
}

const removeChildEpic: EpicCommand = {
  names: ['remove_child_epic'],
  needs: 'update',
  async plan({ ctx, subject, argument }) {
    const child = await epicNamed(ctx, subject, argument)
    if (!child) return undefined
    return {
      says: `Removed ${argument} from child epics.`,
      async run(context) {
        const found = await changeableEpic(context, child.id)
        if (found.parent_id !== subject.epic.id) throw epicNotFound()
        await editEpic(context, found, { parent_id: null })
      },
    }
  },
}

const parentEpic: EpicCommand = {
  names: ['parent_epic'],
  needs: 'update',
  async plan({ ctx, subject, argument, edit }) {
    const parent = await epicNamed(ctx, subject, argument)
    if (!parent) return undefined
    edit.parent_id = parent.id
    return { says: `Set ${argument} as parent epic.` }
  },
}

const removeParentEpic: EpicCommand = {
  names: ['remove_parent_epic'],
  needs: 'update',
  plan({ subject, edit }) {
    if (subject.epic.parent_id === null) return undefined
    edit.parent_id = null
    return { says: 'Removed the parent epic.' }
  },
}

const commands = commandSet<Edit, Subject>([
  ...commonCommands,
  confidential,
  childEpic,
  removeChildEpic,
  parentEpic,
  removeParentEpic,
])

/** Their names. */
export const epicActionNames: ReadonlySet<string> = commands.names

/** Names of the actions that change parents. */
const treeNames: ReadonlySet<string> = new Set(
  [childEpic, removeChildEpic, parentEpic, removeParentEpic].flatMap(({ names }) => names),
)

/** What the actions of an epic of a group need: the tree is locked before any epic if one gets another parent. */
export const epicActionLocks = (groupId: number): ActionsInTransaction => ({
  outside: new Set(),
  lock: (tx, _ctx, actions) =>
    actions.some(({ name }) => treeNames.has(name))
      ? holdTree(tx, groupId)
      : holdPlace(tx, { of: 'group', id: groupId }),
})

/** The quick actions of an epic, with the facts of the caller. */
export const epicActions = (subject: EpicSubject): QuickActions =>
  commands.of(
    {
      noteable: { ...asNoteable(subject), iid: subject.iid },
      noun: 'epic',
      place: { of: 'group', id: subject.group_id, full_path: subject.group.full_path },
      state: subject.state,
      may: (ctx, right) => allows(epicPolicy[abilities[right]], ctx.actor, subject.facts),
      async mayNow(ctx, right) {
        const now = await loadEpicById(subject.id, ctx)
        return now !== undefined && allows(epicPolicy[abilities[right]], ctx.actor, now.facts)
      },
      update: (ctx, edit) => editEpic(ctx, subject, edit),
      epic: subject,
    },
    epicActionLocks(subject.group_id),
  )
