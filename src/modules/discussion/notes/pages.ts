import type { List } from '../../../api/list.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import type { Db } from '../../../db/db.ts'
import { pageTooLarge } from '../../../kernel/failure.ts'
import { type DiscussionRow, listedDiscussionRow, listedNoteRow, type NoteRow } from './record-queries.ts'
import { listedFoundNoteRow } from './search-queries.ts'

/**
 * The rows of a page, if it has room for all of them. Otherwise it is refused, because a client would miss what is left out. A lower
 * `per_page` reads them: the first row always has room.
 */
function complete<Listed extends object, Row extends Listed>(
  { rows, ...paged }: Paged<Listed>,
  hasContent: (row: Listed) => row is Row,
): Paged<Row> {
  if (!rows.every(hasContent)) throw pageTooLarge()
  return { ...paged, rows }
}

const hasBody = <Row extends { readonly body: string | null }>(row: Row): row is Row & { readonly body: string } =>
  row.body !== null

export const fetchNotes = async (db: Db, list: List, page: Page): Promise<Paged<NoteRow>> =>
  complete(await fetchPage(db, listedNoteRow, list, page), hasBody)

/** As `fetchNotes`, of a search. */
export const fetchFoundNotes = async (db: Db, list: List, page: Page): Promise<Paged<NoteRow>> =>
  complete(await fetchPage(db, listedFoundNoteRow, list, page), hasBody)

export const fetchDiscussions = async (db: Db, list: List, page: Page): Promise<Paged<DiscussionRow>> =>
  complete(await fetchPage(db, listedDiscussionRow, list, page), (row): row is DiscussionRow => row.notes !== null)
