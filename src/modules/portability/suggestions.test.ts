import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../test/world.ts'
import { apply, block, opened, suggest, textOf } from '../review/suggestions/testing.ts'
import { craft, entriesOf, exportOf, importOf, recordsOf } from './testing.ts'

const file = 'tree/project/merge_request_suggestions.ndjson'

let base: Promise<ReadonlyMap<string, Buffer>> | undefined

/** The entries of the archive of a project with one suggestion, and a note after it that is not about a line. */
const honest = (world: World): Promise<ReadonlyMap<string, Buffer>> => {
  base ??= (async () => {
    const request = await opened(world, 'a\nb\nc\n')
    await suggest(world.root, request, 2, block('B'))
    await world.root.post(`${request.at}/discussions`, { body: 'Not about a line' })
    return entriesOf(await exportOf(world, request.project.id))
  })()
  return base
}

/** That archive with other suggestions in place of its own. */
async function archiveWith(world: World, change: (record: any) => object | readonly object[]): Promise<Buffer> {
  const entries = new Map(await honest(world))
  const [record] = recordsOf(entries, 'merge_request_suggestions')
  const lines = [change(record)].flat().map((each) => `${JSON.stringify(each)}\n`)
  entries.delete(file)
  if (lines.length > 0) entries.set(file, Buffer.from(lines.join('')))
  return craft([...entries].map(([name, content]) => ({ name, content })))
}

const suggestionsIn = async (who: Client, id: number): Promise<any[]> =>
  (await who.get(`/projects/${id}/merge_requests/1/notes?sort=asc`)).json.flatMap((note: any) => note.suggestions ?? [])

describe('suggestions in archives', () => {
  test('applied, open and outdated suggestions survive, and open ones can be applied after the import', async ({
    world,
  }) => {
    const request = await opened(world, 'a\nb\nc\nd\n')
    const of = async (line: number, text: string) => (await suggest(world.root, request, line, text)).suggestions[0].id
    const longer = await of(1, block('A\nmore'))
    await of(3, block('C', ':-1+0'))
    await of(4, block('D'))
    await of(1, block('other'))
    expect((await apply(world.root, longer)).status).toBe(200)
    const before = await suggestionsIn(world.root, request.project.id)
    expect(before).toMatchObject([
      { applied: true, appliable: false },
      { from_line: 3, to_line: 4, from_content: 'b\nc\n', to_content: 'C\n', appliable: true },
      { from_line: 5, to_line: 5, appliable: true },
      { applied: false, appliable: false },
    ])
    const archive = await exportOf(world, request.project.id)
    const commit = (await world.root.get(`/projects/${request.project.id}/repository/commits/topic`)).json.id
    expect(recordsOf(await entriesOf(archive), 'merge_request_suggestions')).toMatchObject([
      { applied: true, commit_oid: commit },
      { shift: 1 },
      { shift: 1 },
      { outdated: true },
    ])
    const { id, import_error } = await importOf(world, archive)
    expect(import_error).toBeNull()
    const after = await suggestionsIn(world.root, id)
    expect(after).toEqual(before.map((each, at) => ({ ...each, id: after[at].id })))
    expect((await exportOf(world, id)).equals(archive)).toBe(true)
    expect((await apply(world.root, after[1].id)).status).toBe(200)
    expect(await textOf(world.root, { id })).toBe('A\nmore\nC\nd\n')
    expect((await apply(world.root, after[0].id)).status).toBe(400)
  })

  test('an archive without them is imported', async ({ world }) => {
    const { id, import_error } = await importOf(world, await archiveWith(world, () => []))
    expect(import_error).toBeNull()
    expect(await suggestionsIn(world.root, id)).toEqual([])
  })

  test.for([
    ['line 0', { from_line: 0 }, /from_line is not valid/],
    ['a line beyond integers', { to_line: 2 ** 31 }, /to_line is not valid/],
    ['a line that is a text', { to_line: '2' }, /to_line is not valid/],
    ['lines in the wrong order', { from_line: 3, to_line: 2 }, /contradicts the rules/],
    ['a shift beyond integers', { shift: -(2 ** 31) }, /shift is not valid/],
    ['replaced lines of a megabyte', { from_content: 'x'.repeat(1_000_000) }, /from_content is not valid/],
    ['new lines of three megabytes', { to_content: 'x'.repeat(3_000_000) }, /to_content is not valid/],
    ['a NUL', { to_content: 'a\0b' }, /to_content is not valid/],
    ['a commit that is none', { applied: true, commit_oid: 'main' }, /commit_oid is not valid/],
    ['applied without a commit', { applied: true }, /contradicts the rules/],
    ['a commit of one that is not applied', { commit_oid: 'a'.repeat(40) }, /contradicts the rules/],
    ['a note that is not there', { note: 99 }, /does not exist/],
    ['the id of a note in place of its line', { note: 'a1b2' }, /note is not valid/],
  ] as const)('%s: the archive is refused', async ([, change, reason], { world }) => {
    const imported = await importOf(world, await archiveWith(world, (record) => ({ ...record, ...change })))
    expect(imported).toMatchObject({ import_status: 'failed', import_error: expect.stringMatching(reason) })
  })

  test.for([
    ['more than a note can have', () => ({}), 30, 20],
    ['more replaced lines than a note can have', () => ({ from_content: 'x'.repeat(200_000) }), 3, 1],
    ['more new lines than a note can have', () => ({ to_content: 'x'.repeat(2_000_000) }), 3, 1],
    ['one of a note that is not about a line', (record: any) => ({ note: record.note + 1 }), 1, 0],
  ] as const)('%s: left out', async ([, change, count, rest], { world }) => {
    const archive = await archiveWith(world, (record) =>
      Array.from({ length: count }, () => ({ ...record, ...change(record) })),
    )
    const { id, import_error } = await importOf(world, archive)
    expect(import_error).toBeNull()
    expect(await suggestionsIn(world.root, id)).toHaveLength(rest)
    expect(recordsOf(await entriesOf(await exportOf(world, id)), 'merge_request_suggestions')).toHaveLength(rest)
  })

  test('a shift to lines before the first becomes one to the first line', async ({ world }) => {
    const { id } = await importOf(world, await archiveWith(world, (record) => ({ ...record, shift: -1_000_000_000 })))
    expect(await suggestionsIn(world.root, id)).toMatchObject([{ from_line: 1 }])
  })
})
