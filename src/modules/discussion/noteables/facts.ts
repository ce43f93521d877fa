import type { Discussed } from './noteable.ts'

/** Facts about the noteable of an event. */
export const noteableFacts = ({ type, id, iid }: Pick<Discussed, 'type' | 'id' | 'iid'>) => ({
  noteable_type: type as string,
  noteable_id: id,
  noteable_iid: iid,
})
