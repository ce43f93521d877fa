import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import type { Client, World } from '../../../../test/world.ts'
import type { TestFile } from '../../../git/testing.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { pushed } from '../merging/testing.ts'

export const block = (text: string, lines = '') => `\`\`\`suggestion${lines}\n${text}\n\`\`\``

/** A merge request that adds the file `b`. */
export const opened = (world: World, content: TestFile, more: object = {}) =>
  openMergeRequest(world, { files: { b: content }, ...more })

/** Starts a discussion of a line of a new file; resolves to its first note. */
export async function suggest(
  who: Client,
  { at, record }: OpenedMergeRequest,
  new_line: number,
  body: string,
  path = 'b',
) {
  const position = { ...record.diff_refs, position_type: 'text', new_path: path, old_path: path, new_line }
  const made = await who.post(`${at}/discussions`, { body, position })
  expect(made.status, made.text.slice(0, 300)).toBe(201)
  return { ...made.json.notes[0], discussion: made.json.id }
}

export const textOf = async (who: Client, project: { id: number }, branch = 'topic', path = 'b') =>
  (await who.get(`/projects/${project.id}/repository/files/${encodeURIComponent(path)}/raw?ref=${branch}`)).text

export const lastCommit = async (who: Client, project: { id: number }, branch = 'topic') =>
  (await who.get(`/projects/${project.id}/repository/commits/${branch}`)).json

export const apply = (who: Client, id: number, input: object = {}) => who.put(`/suggestions/${id}/apply`, input)

export const applyAll = (who: Client, ids: unknown, input: object = {}) =>
  who.put('/suggestions/batch_apply', { ids, ...input })

/** Pushes a commit with this file to the source branch; the merge request does not follow it yet. */
export async function push(world: World, { project, branch }: OpenedMergeRequest, file: TestFile): Promise<void> {
  const head = (await lastCommit(world.root, project, branch)).id
  const next = project.repository.commit({ b: file }, { branch: 'scratch', parents: [head] })
  await pushed(await contextFor(world, world.root), project, branch, head, next)
}
