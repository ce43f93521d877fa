import { FormData } from 'undici'
import { expect } from 'vitest'
import { type Level, levels, type Visibility } from '../../src/access/levels.ts'
import { openEpic } from '../../src/modules/planning/epics/testing.ts'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { createSnippet } from '../../src/modules/text/snippets/testing.ts'
import { changeProject } from '../tables/projects.ts'
import type { Answer, Client, Sent, World } from '../world.ts'
import type { Row, Who } from './permission-rows.ts'

/** In ascending order; external users are strangers who do not see internal projects. */
export const callers = [
  'anonymous',
  'external',
  'stranger',
  'guest',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'administrator',
] as const
export type CallerKind = (typeof callers)[number]

/** `yes`, or the status of the refusal. */
export type Outcome = 'yes' | 401 | 403 | 404

export type Cell = { readonly caller: CallerKind; readonly visibility: Visibility; readonly archived: boolean }

export const levelOf = (caller: CallerKind): number => (caller in levels ? levels[caller as Level] : 0)

/** The callers who see a project or group of this visibility (supplement, 2.2). */
function sees({ caller, visibility }: Cell): boolean {
  if (visibility === 'public' || levelOf(caller) > 0 || caller === 'administrator') return true
  return visibility === 'internal' && caller === 'stranger'
}

/** The outcome that the supplement requires for a cell. */
export function expected(who: Who, cell: Cell): Outcome {
  const [least, others, live] = who.split(' ') as [Level | 'administrator', 'P' | 'L' | '-', 'live'?]
  const { caller, visibility, archived } = cell
  const isOpen = visibility !== 'private' && sees(cell) && others !== '-' && (caller !== 'anonymous' || others === 'P')
  const isMember = least !== 'administrator' && levelOf(caller) >= levels[least]
  if ((isOpen || isMember || caller === 'administrator') && !(live && archived)) return 'yes'
  // Anonymous callers get 401 before anything is looked up, except where anonymous calls may succeed.
  if (caller === 'anonymous') return others === 'P' && !sees(cell) ? 404 : 401
  return sees(cell) ? 403 : 404
}

/** A group and a project in it, with an open merge request, an issue, a snippet, a commit and an epic of the group with a discussion each. */
export type Place = {
  readonly groupId: number
  readonly projectId: number
  readonly path: string
  readonly sha: string
  readonly iid: number
  readonly discussionId: string
  readonly noteId: number
  readonly issue: { readonly iid: number; readonly discussionId: string; readonly noteId: number }
  readonly snippet: { readonly id: number; readonly discussionId: string; readonly noteId: number }
  readonly epic: { readonly iid: number; readonly discussionId: string; readonly noteId: number }
  readonly commit: { readonly discussionId: string; readonly noteId: number }
}

export async function makePlace(
  world: World,
  {
    visibility,
    archived = false,
    members = [],
  }: { visibility: Visibility; archived?: boolean; members?: readonly [Client, Level][] },
): Promise<Place> {
  const discuss = async (at: string) => (await world.root.post(`${at}/discussions`, { body: 'x' })).json
  const group = await world.group({ visibility, members })
  const { id: projectId, full_path: path, repository } = await storedProject(world, { visibility, group })
  const sha = repository.commit({ 'README.md': 'x' })
  const mergeRequest = await openMergeRequest(world, { project: { id: projectId, full_path: path, repository } })
  const { id: discussionId, notes } = await discuss(mergeRequest.at)
  const issue = await openIssue(world, { project: { id: projectId, full_path: path } })
  const ofIssue = await discuss(issue.at)
  const snippet = await createSnippet(world, {
    project: { id: projectId },
    visibility: 'public',
    file_name: 'README.md',
  })
  const ofSnippet = await discuss(snippet.at)
  const ofCommit = await discuss(`/projects/${projectId}/repository/commits/${sha}`)
  const epic = await openEpic(world, { group })
  const ofEpic = await discuss(epic.at)
  if (archived) await changeProject(world, projectId, { archived: true })
  return {
    groupId: group.id,
    projectId,
    path,
    sha,
    iid: mergeRequest.iid,
    discussionId,
    noteId: notes[0].id,
    issue: { iid: issue.iid, discussionId: ofIssue.id, noteId: ofIssue.notes[0].id },
    snippet: { id: snippet.id, discussionId: ofSnippet.id, noteId: ofSnippet.notes[0].id },
    epic: { iid: epic.iid, discussionId: ofEpic.id, noteId: ofEpic.notes[0].id },
    commit: { discussionId: ofCommit.id, noteId: ofCommit.notes[0].id },
  }
}

/** What a row's call acts on: the project or the group of a place, and the user of its `:user_id`. */
export type Target = { readonly of: 'Project' | 'Group'; readonly place: Place; readonly userId: number }

const idOf = ({ of, place }: Target): number => (of === 'Project' ? place.projectId : place.groupId)

/** The URL of a row's call, with its parameters filled in. */
function addressOf([call, , , { at = {}, query } = {}]: Row, target: Target): string {
  const { place, userId } = target
  const discussed = call.includes(':issue_iid')
    ? place.issue
    : call.includes(':snippet_id')
      ? place.snippet
      : call.includes(':epic_iid')
        ? place.epic
        : call.includes(':sha/discussions')
          ? place.commit
          : place
  const words: Record<string, string> = {
    ':id': String(idOf(target)),
    ':forked_from_id': String(idOf(target)),
    ':sha': place.sha,
    ':merge_request_iid': String(place.iid),
    ':issue_iid': String(place.issue.iid),
    ':snippet_id': String(place.snippet.id),
    ':epic_iid': String(place.epic.iid),
    ':discussion_id': discussed.discussionId,
    ':note_id': String(discussed.noteId),
    ':branch': 'main',
    ':file_path': 'README.md',
    ':user_id': String(userId),
    ...at,
  }
  const path = call.split(' ', 2)[1]!.replaceAll(/:\w+/g, (name) => words[name] ?? name)
  return query === undefined ? path : `${path}?${query}`
}

export function formWithFile(): FormData {
  const form = new FormData()
  form.set('file', new Blob(['x']), 'x.txt')
  return form
}

/** Sends the call of a row. */
export function callRow(caller: Client, row: Row, target: Target): Promise<Answer> {
  const [call, , , { json, headers, file, asks } = {}] = row
  const id = idOf(target)
  const body =
    json && Object.fromEntries(Object.entries(json).map(([name, value]) => [name, value === ':id' ? id : value]))
  const named = asks ? { ...body, [call.startsWith('POST /groups') ? 'parent_id' : 'namespace_id']: id } : body
  const sent: Sent = {
    ...(named && { json: named }),
    ...(headers && { headers }),
    ...(file && { body: formWithFile() }),
  }
  return caller.send(call.split(' ', 1)[0]!, addressOf(row, target), sent)
}

/**
 * Fails unless the answer to a row's call is what the matrix requires for the cell. The 404 of a hidden project or group has its own message;
 * any other 404 is about something in it.
 */
export function expectOutcome(
  answer: Answer,
  [call, who, status, { refused } = {}]: Row,
  cell: Cell,
  of: Target['of'],
  name: string = cell.caller,
): void {
  const wanted = expected(who, cell)
  const isRefused = wanted !== 'yes' && refused !== undefined && wanted !== 401
  const statuses = wanted === 'yes' ? [status].flat() : [isRefused ? refused : wanted]
  const what = `${call} by ${name}, ${cell.visibility}${cell.archived ? ' archived' : ''}: ${answer.text}`
  expect.soft(statuses, what).toContain(answer.status)
  if (answer.status === 404 && !isRefused)
    expect.soft(answer.json?.message === `404 ${of} Not Found`, what).toBe(wanted === 404)
}
