import { randomBytes } from 'node:crypto'

/** 40 hex digits, the format that clients expect of a discussion id. */
export const newDiscussionId = (): string => randomBytes(20).toString('hex')
