import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { CommaList, Flag, Id, Nullable, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import { Board } from './entity.ts'
import { boardRow, boardsOf } from './queries.ts'
import { createBoard, editBoard, getBoard, removeBoard } from './service.ts'

const board_id = Id({ description: 'ID of the board' })
const name = Text({ description: 'Name of the board' })
const removes = '0 removes it'
const changes = {
  name: Optional(name),
  hide_backlog_list: Optional(Flag({ description: 'Clients hide the open issues that are in no list' })),
  hide_closed_list: Optional(Flag({ description: 'Clients hide the closed issues' })),
  assignee_id: Optional(
    Nullable(Id({ description: `ID of the assignee of the issues of the board; ${removes}`, tier: 'starter' })),
  ),
  milestone_id: Optional(
    Nullable(Id({ description: `ID of the milestone of issues of the board; ${removes}`, tier: 'starter' })),
  ),
  labels: Optional(
    CommaList(Text(), {
      description: 'Titles of labels that issues of the board have; unknown ones are ignored',
      tier: 'starter',
    }),
  ),
  weight: Optional(
    Nullable(Whole({ minimum: 0, description: 'Weight of issues of the board; null removes it', tier: 'starter' })),
  ),
}

export const boardRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/boards` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List boards of a ${of}`,
      description: 'Oldest first. Empty until the first board is created.',
      subject,
      allow: 'read_board',
      paged: true,
      returns: Board,
      handle: ({ subject: held, page, ctx }) => fetchPage(ctx.db, boardRow, boardsOf(holderOf(held)), page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:board_id`,
      summary: `Get a ${of} board`,
      subject,
      allow: 'read_board',
      params: Params({ board_id }),
      returns: Board,
      handle: ({ subject: held, params, ctx }) => getBoard(ctx, holderOf(held), params.board_id),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} board`,
      ...(of === 'group' && { description: 'On plans below premium, a group has one board; a second one is a 403.' }),
      subject,
      allow: 'admin_board',
      params: Params({ name }),
      returns: Board,
      handle: ({ subject: held, params, ctx }) => createBoard(ctx, holderOf(held), params.name),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:board_id`,
      summary: `Update a ${of} board`,
      subject,
      allow: 'admin_board',
      params: Params({ board_id, ...changes }, { atLeastOneOf: Object.keys(changes) as (keyof typeof changes)[] }),
      returns: Board,
      handle: ({ subject: held, params: { board_id: id, ...input }, ctx }) => editBoard(ctx, holderOf(held), id, input),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:board_id`,
      summary: `Delete a ${of} board`,
      subject,
      allow: 'admin_board',
      params: Params({ board_id }),
      changedAt: async (held, params, ctx) => (await getBoard(ctx, holderOf(held), params.board_id)).updated_at,
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeBoard(ctx, holderOf(held), params.board_id),
    }),
  ]
})
