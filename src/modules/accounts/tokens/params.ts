import { CommaList, DateOnly, Id, List, Optional, Text } from '../../../api/params/types.ts'
import type { Limits } from './service.ts'

/** What one says of a token that one makes. */
export const newTokenParams = {
  name: Text({ description: 'What it is for' }),
  expires_at: Optional(DateOnly({ dateTime: true, description: 'First day on which it is no longer valid (UTC)' })),
  scopes: CommaList(Text(), { description: 'What it may be used for' }),
}

/** Ours: what it is limited to. All of it is read whenever the token is shown. */
const maxItems = 1000
export const limitParams = {
  project_ids: Optional(List(Id(), { maxItems, description: 'Projects beyond which it reaches nothing' })),
  group_ids: Optional(
    List(Id(), { maxItems, description: 'Groups beyond which, with all inside, it reaches nothing' }),
  ),
}

/** Whoever names neither projects nor groups wants no limit; an empty list of both is a limit to nothing. */
export const limitsOf = (params: { project_ids?: number[]; group_ids?: number[] }): Limits | undefined =>
  params.project_ids || params.group_ids
    ? { projectIds: params.project_ids ?? [], groupIds: params.group_ids ?? [] }
    : undefined

export const rotationParams = {
  expires_at: Optional(
    DateOnly({
      dateTime: true,
      description: 'First day on which the new one is no longer valid; in a week, if absent',
    }),
  ),
}
