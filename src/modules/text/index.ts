export { groupWikiAccess, projectWikiAccess } from './wikis/git-access.ts'
