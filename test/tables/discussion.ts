import type { World } from '../world.ts'
import { add, change, find, now } from './statements.ts'

/** Notes of a merge request in their order. */
export const notesOf = (world: World, merge_request_id: number, ...columns: readonly ('author_id' | 'body')[]) =>
  find(world, 'notes', { merge_request_id }, columns.length === 0 ? ['body'] : columns, 'id')

/** Notes that the service wrote on a merge request, in their order. */
export const systemNotesOf = (world: World, merge_request_id: number, ...columns: readonly ('author_id' | 'body')[]) =>
  find(world, 'notes', { merge_request_id, system: true }, columns.length === 0 ? ['body'] : columns, 'id')

/** Notes that a commit left where its message names merge requests, as `id` and `discussion`. */
export const notesOfCommit = (world: World, source_commit: string) =>
  find(world, 'notes', { source_commit }, ['id', 'discussion_id as discussion'])

/** Notes that commits left on a merge request. */
export const notesOfCommitsOn = (world: World, mergeRequestId: number) =>
  world.rows('select from notes where source_commit is not null and merge_request_id = $1', [mergeRequestId])

/** Notes that commits left in a project, except on this merge request. */
export const notesOfCommitsExceptOn = (world: World, projectId: number, mergeRequestId: number) =>
  world.rows('select from notes where source_commit is not null and project_id = $1 and merge_request_id <> $2', [
    projectId,
    mergeRequestId,
  ])

/** A thread by the first administrator. */
export const addThread = (world: World, project_id: number, merge_request_id: number, discussion_id: string) =>
  add(world, 'notes', { project_id, merge_request_id, author_id: 1, discussion_id, threaded: true, body: 'Why?' })

/** Adds this many replies with a text of a million characters. */
export const addLongReplies = (world: World, discussionId: string, count: number) =>
  world.rows(
    `insert into notes (project_id, merge_request_id, author_id, discussion_id, threaded, body)
     select n.project_id, n.merge_request_id, n.author_id, n.discussion_id, true, repeat('text ', 200000)
     from notes n, generate_series(1, $2) where n.discussion_id = $1`,
    [discussionId, count],
  )

export const resolveThread = (world: World, discussion_id: string) =>
  change(world, 'notes', { discussion_id }, { resolved_at: now })

/** Ids of the users whom notes of a merge request mention. */
export const mentionedOn = (world: World, mergeRequestId: number) =>
  world.rows('select distinct user_id from mentions where merge_request_id = $1 order by user_id', [mergeRequestId])

/** Notes of the commits of a project. */
export const commitNotesOf = (world: World, projectId: number) =>
  world.rows('select id from notes where project_id = $1 and commit_id is not null order by id', [projectId])

/** The commits of a project that have notes. */
export const commitsDiscussedIn = (world: World, project_id: number) =>
  find(world, 'commented_commits', { project_id }, ['id', 'oid', 'title', 'author_id'], 'id')

/** The discussed commits of a project are others. */
export const nameCommit = (
  world: World,
  project_id: number,
  commit: { readonly oid: string; readonly title: string },
) => change(world, 'commented_commits', { project_id }, commit)

export const emojiOfNote = (world: World, note_id: number) => find(world, 'award_emoji', { note_id }, ['id'])

export const timeLogsOf = (world: World, merge_request_id: number) =>
  find(world, 'time_logs', { merge_request_id }, ['seconds', 'user_id'], 'id')

/** The user does not want to be notified of a merge request. */
export const unsubscribe = (world: World, merge_request_id: number, user_id: number) =>
  add(world, 'subscriptions', { merge_request_id, user_id, subscribed: false })

/** To-do items about merge requests, by their users. */
export const todosAbout = (
  world: World,
  merge_request_id: number | readonly number[],
  ...columns: readonly ('user_id' | 'action' | 'state')[]
) => find(world, 'todos', { merge_request_id }, columns.length === 0 ? ['user_id'] : columns, 'user_id')

export const latestTodo = (world: World, mergeRequestId: number) =>
  world.rows('select state from todos where merge_request_id = $1 order by id desc limit 1', [mergeRequestId])

export const addTodo = (world: World, user_id: number, project_id: number, merge_request_id: number) =>
  add(world, 'todos', { user_id, author_id: 1, project_id, merge_request_id, action: 'assigned' })

export const completeTodos = (world: World, merge_request_id: number) =>
  change(world, 'todos', { merge_request_id }, { state: 'done' })

/** Columns of a table by their names. */
export const columnsOf = (world: World, table: string, schema = 'public') =>
  world.rows('select column_name from information_schema.columns where table_schema = $1 and table_name = $2', [
    schema,
    table,
  ])

/** Which of the tables refer to a table by a column of this name. */
export const tablesReferring = (world: World, to: string, column: string, tables: readonly string[]) =>
  world.rows(
    `select conrelid::regclass::text as name
      from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
      where c.contype = 'f' and c.confrelid = $1::regclass and a.attname = $2
        and c.conrelid::regclass::text = any($3::text[])
      order by 1`,
    [to, column, tables],
  )

/** Notes that were written just now. */
export const addNotes = (
  world: World,
  { project, mergeRequest, author }: { project: number; mergeRequest: number; author: number },
  count: number,
) =>
  world.rows(
    `insert into notes (project_id, merge_request_id, author_id, discussion_id, body)
      select $1, $2, $3, repeat('0', 40), 'x' from generate_series(1, $4)`,
    [project, mergeRequest, author, count],
  )

/** Gives a note this many further suggestions for its first line. */
export const crowdSuggestions = (world: World, noteId: number, many: number) =>
  world.rows(
    `insert into suggestions (note_id, from_line, to_line, from_content, to_content)
      select $1, 1, 1, 'x', 'y' from generate_series(1, $2)`,
    [noteId, many],
  )

/** Changes the position of a note, as an import may store it. */
export const misplaceNote = (world: World, noteId: number, odd: object) =>
  world.rows('update notes set position = position || $2::jsonb where id = $1', [noteId, JSON.stringify(odd)])

/** How many comments there are, as they are stored and counted, and how many rows add up to the stored number. */
export const commentNumbers = async (world: World) =>
  (
    await world.rows(`
      select (select coalesce(sum(number), 0) from comment_counts)::integer as kept,
        (select count(*) from comment_counts)::integer as rows, (select count(*) from notes where not system)::integer as counted
    `)
  )[0]! as { kept: number; rows: number; counted: number }
