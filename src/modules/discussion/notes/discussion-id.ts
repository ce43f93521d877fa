import { randomBytes } from 'node:crypto'

/** 40 hex digits, as clients expect of a discussion. */
export const newDiscussionId = (): string => randomBytes(20).toString('hex')
