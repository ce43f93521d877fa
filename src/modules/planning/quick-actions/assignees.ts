import type { Ctx } from '../../../api/ctx.ts'
import { hasSingleAssignees, readersByName } from '../../discussion/index.ts'
import { namedUsers } from './arguments.ts'
import type { Command, Commanded, ScheduledCommanded, SharedEdit } from './command.ts'
import { addToList, removeFromList, replaceList } from './lists.ts'

type Shared = Command<SharedEdit, ScheduledCommanded<SharedEdit>>

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The users that an argument names and that may read the noteable's project, in its order. */
export async function usersNamed(ctx: Ctx, { noteable }: Commanded<SharedEdit>, argument: string, limit?: number) {
  const names = namedUsers(argument, ctx.actor!.username)
  const found = names.length > 0 ? await readersByName(ctx.db, noteable.type, noteable.holder.id, names) : []
  const users = found.slice(0, limit)
  return { ids: users.map(({ id }) => id), text: listed(users.map(({ username }) => `@${username}`)) }
}

/**
 * Those to assign, and how `addTo` changes the list: it adds them to the present ones, but on a plan with single assignees the first
 * replaces these.
 */
export async function assigneesNamed(ctx: Ctx, subject: Commanded<SharedEdit>, argument: string) {
  const isSingle = hasSingleAssignees(ctx)
  const named = await usersNamed(ctx, subject, argument, isSingle ? 1 : undefined)
  return { ...named, addTo: isSingle ? replaceList : addToList }
}

const assignees = { all: 'assignee_ids', added: 'add_assignee_ids', removed: 'remove_assignee_ids' } as const

const assign: Shared = {
  names: ['assign'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { ids, text, addTo } = await assigneesNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    addTo(edit, assignees, ids)
    return { says: `Assigned ${text}.` }
  },
}

const unassign: Shared = {
  names: ['unassign', 'remove_assignee'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    if (argument === '') {
      replaceList(edit, assignees, [])
      return { says: 'Removed all assignees.' }
    }
    const { ids, text } = await usersNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    removeFromList(edit, assignees, ids)
    return { says: `Removed ${ids.length === 1 ? 'assignee' : 'assignees'} ${text}.` }
  },
}

const reassign: Shared = {
  names: ['reassign'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { ids, text } = await assigneesNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    replaceList(edit, assignees, ids)
    return { says: `Changed assignees to ${text}.` }
  },
}

export const assigneeCommands: readonly Shared[] = [assign, unassign, reassign]
