import { noteableAs } from '../../discussion/index.ts'

/** A merge request as notes, todos and subscriptions refer to it. */
export const asNoteable = noteableAs('MergeRequest')
