import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Optional, Params, Whole } from '../../../api/params/types.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import { BoardList } from './entity.ts'
import { listRow, pageOfLists } from './list-queries.ts'
import { createList, editList, getList, removeList } from './list-service.ts'
import { getBoard } from './service.ts'

const board_id = Id({ description: 'ID of the board' })
const list_id = Id({ description: 'ID of the list' })
const maxima = {
  max_issue_count: Optional(
    Whole({ minimum: 0, description: 'Maximum number of issues, which clients show; 0 for none', tier: 'premium' }),
  ),
  max_issue_weight: Optional(
    Whole({ minimum: 0, description: 'Maximum sum of weights, which clients show; 0 for none', tier: 'premium' }),
  ),
}
const changes = {
  position: Optional(Whole({ minimum: 0, description: 'Place on the board, from 0' })),
  ...maxima,
}
const criteria = {
  label_id: Optional(Id({ description: 'ID of a label of the project or group, or of a group above it' })),
  assignee_id: Optional(Id({ description: 'ID of a user who reads issues there', tier: 'premium' })),
  milestone_id: Optional(
    Id({ description: 'ID of a milestone of the project or group, or of a group above it', tier: 'premium' }),
  ),
}

export const boardListRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/boards/:board_id/lists` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List lists of a ${of} board`,
      description:
        'By position. Without the lists of open issues in no list and of closed issues, which every board has.',
      subject,
      allow: 'read_board',
      params: Params({ board_id }),
      paged: true,
      returns: BoardList,
      async handle({ subject: held, params, page, ctx }) {
        const { id } = await getBoard(ctx, holderOf(held), params.board_id)
        return fetchPage(ctx.db, listRow, pageOfLists(id), page)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:list_id`,
      summary: `Get a ${of} board list`,
      subject,
      allow: 'read_board',
      params: Params({ board_id, list_id }),
      returns: BoardList,
      async handle({ subject: held, params, ctx }) {
        const { id } = await getBoard(ctx, holderOf(held), params.board_id)
        return getList(ctx, id, params.list_id)
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} board list`,
      description: 'The list has the issues with one label, assignee or milestone. It comes after the others.',
      subject,
      allow: 'admin_board',
      params: Params(
        { board_id, ...criteria, ...maxima },
        { exactlyOneOf: Object.keys(criteria) as (keyof typeof criteria)[] },
      ),
      returns: BoardList,
      handle: ({ subject: held, params: { board_id: id, ...input }, ctx }) =>
        createList(ctx, holderOf(held), id, input),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:list_id`,
      summary: `Update a ${of} board list`,
      description: '`position` moves the list; the lists between its old and its new place move by one.',
      subject,
      allow: 'admin_board',
      params: Params(
        { board_id, list_id, ...changes },
        { atLeastOneOf: Object.keys(changes) as (keyof typeof changes)[] },
      ),
      returns: BoardList,
      handle: ({ subject: held, params: { board_id: id, list_id: listId, ...input }, ctx }) =>
        editList(ctx, holderOf(held), id, listId, input),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:list_id`,
      summary: `Delete a ${of} board list`,
      subject,
      allow: 'admin_board',
      params: Params({ board_id, list_id }),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeList(ctx, holderOf(held), params.board_id, params.list_id),
    }),
  ]
})
