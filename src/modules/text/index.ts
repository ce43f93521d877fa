export { Snippet } from './snippets/entity.ts'
export { snippetAccess } from './snippets/git-access.ts'
export { snippetsContaining, snippetsTitled } from './snippets/list-queries.ts'
export { snippetRow } from './snippets/queries.ts'
export { refreshSnippetJob } from './snippets/refresh.ts'
export { deleteSnippetsOfDeleted } from './snippets/removal.ts'
export {
  /** @public */
  pageOfEvent,
} from './wikis/event-page.ts'
export { groupWikiAccess, projectWikiAccess } from './wikis/git-access.ts'
export { openWiki } from './wikis/holder.ts'
export { followWiki } from './wikis/reactions.ts'
