import type { EventPlace } from '../../../events/catalogue.ts'

/** Owner of rows in shared tables: a project, a group, a user, or the installation. */
export type Holder =
  | { readonly of: 'project' | 'group' | 'user'; readonly id: number }
  | { readonly of: 'instance'; readonly id?: undefined }

export type ProjectOrGroupHolder = Holder & { readonly of: 'project' | 'group'; readonly id: number }

/** Project or group of an event about a holder. */
export const placeOf = ({ of, id }: Holder): EventPlace =>
  of === 'project' ? { projectId: id! } : of === 'group' ? { groupId: id! } : {}

export const instanceHolder: Holder = { of: 'instance' }
