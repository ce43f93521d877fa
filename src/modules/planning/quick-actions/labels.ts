import type { Ctx } from '../../../api/ctx.ts'
import { findUsableLabels } from '../labels/assign-queries.ts'
import { namedLabels } from './arguments.ts'
import type { Command, Commanded, SharedEdit } from './command.ts'
import { addToList, removeFromList, replaceList } from './lists.ts'

type Common = Command<SharedEdit>

/** The titles of existing labels that an argument names. */
async function labelsNamed(ctx: Ctx, { noteable }: Commanded<SharedEdit>, argument: string) {
  const found = await findUsableLabels(ctx.db, noteable, namedLabels(argument))
  const titles = found.map(({ title }) => title)
  return {
    titles,
    text: `${titles.map((title) => `~"${title}"`).join(' ')} ${titles.length === 1 ? 'label' : 'labels'}`,
  }
}

export const labelLists = { all: 'labels', added: 'add_labels', removed: 'remove_labels' } as const

const label: Common = {
  names: ['label', 'labels'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    addToList(edit, labelLists, titles)
    return { says: `Added ${text}.` }
  },
}

const unlabel: Common = {
  names: ['unlabel', 'remove_label'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    if (argument === '') {
      replaceList(edit, labelLists, [])
      return { says: 'Removed all labels.' }
    }
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    removeFromList(edit, labelLists, titles)
    return { says: `Removed ${text}.` }
  },
}

const relabel: Common = {
  names: ['relabel'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    replaceList(edit, labelLists, titles)
    return { says: `Replaced all labels with ${text}.` }
  },
}

export const labelCommands: readonly Common[] = [label, unlabel, relabel]
