import { Suggestions } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest applies suggestions, one and several at once', async ({ world }) => {
  const request = await openMergeRequest(world, { files: { b: 'one\ntwo\nthree\n' } })
  const position = { ...request.record.diff_refs, position_type: 'text', new_path: 'b' }
  const ids: number[] = []
  for (const new_line of [1, 2, 3]) {
    const body = `\`\`\`suggestion\nline ${new_line}\n\`\`\``
    const made = await world.root.post(`${request.at}/discussions`, { body, position: { ...position, new_line } })
    ids.push(made.json.notes[0].suggestions[0].id)
  }
  const suggestions = new Suggestions({ host: world.origin, token: world.root.token! })
  expect(await suggestions.edit(ids[0]!, { commitMessage: 'First' } as never)).toMatchObject({
    id: ids[0],
    applied: true,
    appliable: false,
    from_content: 'one\n',
    to_content: 'line 1\n',
  })
  expect(await suggestions.editBatch(ids.slice(1), { commitMessage: 'Rest' } as never)).toMatchObject([
    { id: ids[1], applied: true },
    { id: ids[2], applied: true },
  ])
  const file = await world.root.get(`/projects/${request.project.id}/repository/files/b/raw?ref=topic`)
  expect(file.text).toBe('line 1\nline 2\nline 3\n')
  const commits = (await world.root.get(`/projects/${request.project.id}/repository/commits?ref_name=topic`)).json
  expect(commits.map(({ title }: { title: string }) => title).slice(0, 2)).toEqual(['Rest', 'First'])
})
