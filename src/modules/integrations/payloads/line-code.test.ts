import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { commitTo, hooked, ofKind, tipOf } from './testing.ts'

const codeOf = (path: string, positions: string) => `${createHash('sha1').update(path).digest('hex')}_${positions}`

test('the hook of a note on a line of a diff has the code of the line: path and both positions', async ({ world }) => {
  await using made = await hooked(world)
  const { receiver, project } = made
  const at = `/projects/${project.id}`
  const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('')
  const file = { file_path: 'a' }
  await commitTo(world, project, 'main', [{ action: 'create', ...file, content: lines('1', '2', '3', '4') }])
  const base = await tipOf(world, project)
  const content = lines('1', 'two', 'and a half', '3')
  await commitTo(world, project, 'topic', [{ action: 'update', ...file, content }], { start_branch: 'main' })
  const { iid, diff_refs, sha } = (
    await world.root.post(`${at}/merge_requests`, { source_branch: 'topic', target_branch: 'main', title: 'Topic' })
  ).json
  expect(diff_refs.base_sha).toBe(base)
  const paths = { old_path: 'a', new_path: 'a', position_type: 'text' }
  const codeOn = async (body: string, path: string, more: object) => {
    expect(await world.root.post(`${at}${path}`, { body, note: body, ...more }), body).toMatchObject({ status: 201 })
    const { json } = await receiver.request((each) => ofKind('note')(each) && each.json.object_attributes.note === body)
    return json.object_attributes.line_code
  }
  const onMergeRequest = (body: string, line: object) =>
    codeOn(body, `/merge_requests/${iid}/discussions`, { position: { ...diff_refs, ...paths, ...line } })
  expect(await onMergeRequest('added', { new_line: 3 })).toBe(codeOf('a', '3_3'))
  expect(await onMergeRequest('removed', { old_line: 2 })).toBe(codeOf('a', '2_2'))
  expect(await onMergeRequest('removed last', { old_line: 4 })).toBe(codeOf('a', '4_5'))
  expect(await onMergeRequest('unchanged', { old_line: 3, new_line: 4 })).toBe(codeOf('a', '3_4'))
  const onCommit = `/repository/commits/${sha}/comments`
  expect(await codeOn('on the commit', onCommit, { path: 'a', line: 2, line_type: 'new' })).toBe(codeOf('a', '3_2'))
  expect(await codeOn('on all of it', onCommit, {})).toBeNull()
})
