import { awardEmojiRoutesOf, discussionRoutesOf, noteRoutesOf } from '../../discussion/index.ts'
import { discussedSnippet } from './subject.ts'

export const snippetNoteRoutes = [...noteRoutesOf(discussedSnippet), ...discussionRoutesOf(discussedSnippet)]
export const snippetAwardEmojiRoutes = awardEmojiRoutesOf(discussedSnippet)
