import type { Tx } from '../../../db/db.ts'
import type { MainChange } from '../../../events/catalogue.ts'
import { emit } from '../../../events/log.ts'
import type { Reaction } from '../../../events/reaction.ts'
import type { ChangedFile } from '../../../git/history/changes.ts'
import { recordActivity } from '../../projects/index.ts'
import { type PageName, pageAt } from './page-names.ts'
import { deletePage, pageId, renamePage } from './queries.ts'

/** Maximum pages of one push that have events. */
const maxPages = 100

/** Emits an event for each page that a push or a commit of the API changed. */
export const followWiki: Reaction<'side_repository_changed'> = async (tx, { payload, facts, actorId, ...place }) => {
  const { holder_kind: kind, main } = facts
  if (kind === 'snippet' || !main) return
  const changes = main.files.flatMap((file) => changeOf(file) ?? []).slice(0, maxPages)
  if (place.projectId !== undefined) await recordActivity(tx, place.projectId)
  const { side_repository_id, push_id } = payload
  // One after the other: a rename may give a page the slug that another has just lost.
  for (const change of changes)
    await emitChange(tx, change, main, {
      actorId,
      ...(place.projectId !== undefined && { projectId: place.projectId }),
      ...(place.groupId !== undefined && { groupId: place.groupId }),
      sideRepositoryId: side_repository_id,
      pushId: push_id,
    })
}

type Change =
  | { readonly what: 'created' | 'deleted'; readonly page: PageName }
  | { readonly what: 'updated'; readonly page: PageName; readonly before: PageName }

const isFile = (mode: string): boolean => mode.startsWith('100')

/** What happened to a page; undefined for other files. */
function changeOf({ oldPath, newPath, oldMode, newMode }: ChangedFile): Change | undefined {
  const before = isFile(oldMode) ? pageAt(oldPath) : undefined
  const page = isFile(newMode) ? pageAt(newPath) : undefined
  if (page && before) return { what: 'updated', page, before }
  return page ? { what: 'created', page } : before && { what: 'deleted', page: before }
}

type Where = {
  readonly actorId: number | null
  readonly projectId?: number
  readonly groupId?: number
  readonly sideRepositoryId: number
  readonly pushId: number
}

async function emitChange(tx: Tx, change: Change, { from, to }: MainChange, where: Where): Promise<void> {
  const { sideRepositoryId, pushId, ...place } = where
  const { page, what } = change
  const id = await pageId(tx, sideRepositoryId, (what === 'updated' ? change.before : page).slug)
  if (what === 'updated' && change.before.slug !== page.slug) await renamePage(tx, id, page.slug)
  if (what === 'deleted') await deletePage(tx, id)
  const shown = { target: { type: 'WikiPage::Meta', id, title: page.title } }
  const payload = {
    wiki_page_id: id,
    side_repository_id: sideRepositoryId,
    push_id: pushId,
    // The commit that has the page: after a deletion, the one before it.
    commit: what === 'deleted' ? from! : to,
    path: page.path,
  }
  if (what === 'created') await emit(tx, { kind: 'wiki_page_created', ...place, payload, shown })
  else if (what === 'updated') await emit(tx, { kind: 'wiki_page_updated', ...place, payload, shown })
  else await emit(tx, { kind: 'wiki_page_deleted', ...place, payload, shown })
}
