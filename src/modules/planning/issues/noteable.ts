import { noteableAs } from '../../discussion/index.ts'

/** An issue as notes, todos and subscriptions refer to it. */
export const asNoteable = noteableAs('Issue')
