import type { EventPlace } from '../../../events/catalogue.ts'

/** What may have rows of its own in tables that serve several: a project, a group, a person, or the installation. */
export type Holder =
  | { readonly of: 'project' | 'group' | 'user'; readonly id: number }
  | { readonly of: 'instance'; readonly id?: undefined }

export type ProjectOrGroupHolder = Holder & { readonly of: 'project' | 'group'; readonly id: number }

/** Where an event about a holder belongs. */
export const placeOf = ({ of, id }: Holder): EventPlace =>
  of === 'project' ? { projectId: id! } : of === 'group' ? { groupId: id! } : {}

export const instanceHolder: Holder = { of: 'instance' }
