import type { Discussed } from './noteable.ts'

/** What events say of the noteable that they are about. */
export const noteableFacts = ({ type, id, iid }: Pick<Discussed, 'type' | 'id' | 'iid'>) => ({
  noteable_type: type as string,
  noteable_id: id,
  noteable_iid: iid,
})
