import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, unchanged } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Id, Nullable, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { type Kind, ofProjectsAndGroups, type ProjectOrGroup, type ProjectOrGroupHolder } from '../../groups/index.ts'
import { GroupLabel, type LabelShown, ProjectLabel } from './entity.ts'
import { type LabelName, type LabelRow, labelRow, labelsOf } from './queries.ts'
import { createLabel, editLabel, getLabel, namesIn, removeLabel, setSubscription } from './service.ts'

const label_id = Text({ description: 'ID or title of the label' })
/** The older way to name a label: by parameter instead of path. */
const apart = {
  label_id: Optional(Id({ description: 'ID of the label' })),
  name: Optional(Text({ description: 'Name of the label' })),
}
const color = Text({ description: '#RRGGBB or a CSS color name' })
const description = Optional(Nullable(Text({ description: 'Description of the label' })))
const priority = { priority: Optional(Nullable(Whole({ minimum: 0, description: 'Priority; lowest first' }))) }
const include_ancestor_groups = Flag({ default: true, description: 'Include ancestor groups' })

/** Groups have no priorities. Handlers see declared parameters only, so it is absent there. */
const ranking = (of: Kind['of']) => (of === 'project' ? priority : {}) as typeof priority

const namedApart = ({ label_id: id, name: title }: { label_id?: number; name?: string }): LabelName[] =>
  title === undefined ? [{ id: id! }] : [{ title }]

const changedAt = async (holder: ProjectOrGroupHolder, names: readonly LabelName[], { db, actor }: Ctx) =>
  (await getLabel(db, { holder, caller: actor }, names, { ancestors: false })).updated_at

/** The label as the project or group shows it. */
const shownIn = ({ of }: Kind, { full_path }: ProjectOrGroup, label: LabelRow): LabelShown => ({
  label,
  within: { of, full_path },
})

const subscribing = (kind: Kind, verb: 'subscribe' | 'unsubscribe', summary: string, already: string) =>
  endpoint({
    method: 'POST',
    path: `${kind.base}/labels/:label_id/${verb}`,
    summary,
    subject: kind.subject,
    allow: 'subscribe_to_label',
    params: Params({ label_id }),
    unchanged: already,
    returns: kind.of === 'project' ? ProjectLabel : GroupLabel,
    async handle({ subject: held, params, ctx }) {
      const label = await setSubscription(ctx, kind.holderOf(held), namesIn(params.label_id), verb === 'subscribe')
      return label ? shownIn(kind, held, label) : unchanged
    },
  })

export const labelRoutes = ofProjectsAndGroups((kind) => {
  const { of, base, subject, holderOf } = kind
  const path = `${base}/labels` as const
  const returns = of === 'project' ? ProjectLabel : GroupLabel
  const changes = {
    new_name: Optional(Text({ description: 'New name of the label' })),
    color: Optional(color),
    description,
    ...ranking(of),
  }
  const atLeastOneOf = Object.keys(changes) as (keyof typeof changes)[]
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List labels of a ${of}`,
      description: 'Sorted by title.',
      subject,
      allow: 'read_label',
      params: Params({
        with_counts: Flag({
          default: false,
          description: 'Include counts of open and closed issues, and of open merge requests',
        }),
        include_ancestor_groups,
        search: Optional(Text({ description: 'Part of title or description' })),
      }),
      paged: true,
      returns,
      async handle({ subject: held, params: { include_ancestor_groups: ancestors, with_counts, search }, page, ctx }) {
        const place = { holder: holderOf(held), caller: ctx.actor }
        const list = labelsOf(place, { ancestors, counts: with_counts, search })
        const found = await fetchPage(ctx.db, labelRow, list, page)
        return { ...found, rows: found.rows.map((label) => shownIn(kind, held, label)) }
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:label_id`,
      summary: `Get a ${of} label`,
      subject,
      allow: 'read_label',
      params: Params({ label_id, include_ancestor_groups }),
      returns,
      async handle({ subject: held, params: { label_id: text, include_ancestor_groups: ancestors }, ctx }) {
        const place = { holder: holderOf(held), caller: ctx.actor }
        return shownIn(kind, held, await getLabel(ctx.db, place, namesIn(text), { ancestors }))
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} label`,
      subject,
      allow: 'admin_label',
      params: Params({
        name: Text({ description: 'Name of the label, unique within the project and its groups' }),
        color,
        description,
        ...ranking(of),
      }),
      returns,
      handle: async ({ subject: held, params, ctx }) =>
        shownIn(kind, held, await createLabel(ctx, holderOf(held), params)),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:label_id`,
      summary: `Update a ${of} label`,
      subject,
      allow: 'admin_label',
      params: Params({ label_id, ...changes }, { atLeastOneOf }),
      returns,
      handle: async ({ subject: held, params: { label_id: text, new_name: name, ...rest }, ctx }) =>
        shownIn(kind, held, await editLabel(ctx, holderOf(held), namesIn(text), { name, ...rest })),
    }),

    endpoint({
      method: 'PUT',
      path,
      summary: `Update a ${of} label by name`,
      description: 'Deprecated form; send the label in the path.',
      deprecated: true,
      subject,
      allow: 'admin_label',
      params: Params({ ...apart, ...changes }, { exactlyOneOf: ['label_id', 'name'], atLeastOneOf }),
      returns,
      async handle({ subject: held, params, ctx }) {
        const { label_id: _, name: __, new_name: name, ...rest } = params
        return shownIn(kind, held, await editLabel(ctx, holderOf(held), namedApart(params), { name, ...rest }))
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:label_id`,
      summary: `Delete a ${of} label`,
      subject,
      allow: 'admin_label',
      params: Params({ label_id }),
      changedAt: (held, params, ctx) => changedAt(holderOf(held), namesIn(params.label_id), ctx),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeLabel(ctx, holderOf(held), namesIn(params.label_id)),
    }),

    endpoint({
      method: 'DELETE',
      path,
      summary: `Delete a ${of} label by name`,
      description: 'Deprecated form; send the label in the path.',
      deprecated: true,
      subject,
      allow: 'admin_label',
      params: Params(apart, { exactlyOneOf: ['label_id', 'name'] }),
      changedAt: (held, params, ctx) => changedAt(holderOf(held), namedApart(params), ctx),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeLabel(ctx, holderOf(held), namedApart(params)),
    }),

    subscribing(kind, 'subscribe', `Subscribe to a ${of} label`, 'The caller is already subscribed'),
    subscribing(kind, 'unsubscribe', `Unsubscribe from a ${of} label`, 'The caller is not subscribed'),
  ]
})
