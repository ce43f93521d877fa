import { noteableAs } from '../../discussion/index.ts'

/** An epic as notes, todos and subscriptions refer to it. */
export const asNoteable = noteableAs('Epic')
