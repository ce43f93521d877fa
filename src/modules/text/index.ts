export {
  /** @public */
  pageOfEvent,
} from './wikis/event-page.ts'
export { groupWikiAccess, projectWikiAccess } from './wikis/git-access.ts'
export { openWiki } from './wikis/holder.ts'
export { followWiki } from './wikis/reactions.ts'
