import type { Ctx } from '../../../api/ctx.ts'
import { findUsableLabels } from '../labels/assign-queries.ts'
import { namedLabels } from './arguments.ts'
import type { Command, Commanded, SharedEdit } from './command.ts'

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

const label: Common = {
  names: ['label', 'labels'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    edit.add_labels = [...(edit.add_labels ?? []), ...titles]
    return { says: `Added ${text}.` }
  },
}

const unlabel: Common = {
  names: ['unlabel', 'remove_label'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    if (argument === '') {
      delete edit.add_labels
      edit.labels = []
      return { says: 'Removed all labels.' }
    }
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    edit.remove_labels = [...(edit.remove_labels ?? []), ...titles]
    return { says: `Removed ${text}.` }
  },
}

const relabel: Common = {
  names: ['relabel'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    delete edit.add_labels
    edit.labels = titles
    return { says: `Replaced all labels with ${text}.` }
  },
}

export const labelCommands: readonly Common[] = [label, unlabel, relabel]
