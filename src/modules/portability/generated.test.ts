import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../test/world.ts'
import { openMergeRequest } from '../review/merge-requests/testing.ts'
import { apply, block } from '../review/suggestions/testing.ts'
import { entriesOf, exportOf, importOf } from './testing.ts'

/** Text as people and attackers write it, without what no record can have. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.constantFrom(
      '$1 ${x} \\u0041',
      "'; drop table issues; --",
      '</script>',
      '\u202eright to left',
      '{"json":[1]}',
      'a\tb\\n',
    ),
  )
  .map((each) => each.replaceAll('\0', '').toWellFormed().trim())
  .filter((each) => each !== '' && !each.startsWith('/'))

const step = fc.oneof(
  fc.record({ kind: fc.constant('issue' as const), title: text, body: text, confidential: fc.boolean() }),
  fc.record({ kind: fc.constant('note' as const), on: fc.nat(), body: text, thread: fc.boolean() }),
  fc.record({ kind: fc.constant('label' as const), on: fc.nat(), title: text }),
  fc.record({ kind: fc.constant('milestone' as const), on: fc.nat(), title: text }),
  fc.record({ kind: fc.constant('award' as const), on: fc.nat(), name: fc.constantFrom('tada', 'rocket', 'thumbsup') }),
  fc.record({ kind: fc.constant('close' as const), on: fc.nat() }),
  fc.record({ kind: fc.constant('spend' as const), on: fc.nat(), minutes: fc.integer({ min: 1, max: 500 }) }),
  fc.record({ kind: fc.constant('link' as const), on: fc.nat(), to: fc.nat() }),
  fc.record({ kind: fc.constant('assign' as const), on: fc.nat(), who: fc.nat() }),
  fc.record({ kind: fc.constant('release' as const), name: text, description: text, milestone: text }),
  fc.record({ kind: fc.constant('snippet' as const), title: text, content: text }),
  fc.record({ kind: fc.constant('page' as const), title: fc.stringMatching(/^[a-z]{3,8}$/), content: text }),
  fc.record({ kind: fc.constant('board' as const), name: text }),
  fc.record({ kind: fc.constant('suggestion' as const), text, applies: fc.boolean() }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Does the step; what the product refuses has no effect. */
async function play(world: World, at: string, people: readonly Client[], steps: readonly Step[]): Promise<void> {
  let issues = 0
  let tags = 0
  for (const [index, one] of steps.entries()) {
    const who = people[index % people.length]!
    const noteable =
      'on' in one && one.on % 3 === 0
        ? `${at}/merge_requests/1`
        : `${at}/issues/${issues === 0 || !('on' in one) ? 1 : 1 + (one.on % issues)}`
    if (one.kind === 'issue') {
      const { title, body: description, confidential } = one
      if ((await who.post(`${at}/issues`, { title, description, confidential })).status === 201) issues++
    } else if (one.kind === 'note')
      await who.post(`${noteable}/${one.thread ? 'discussions' : 'notes'}`, { body: one.body })
    else if (one.kind === 'label') await who.put(noteable, { add_labels: one.title })
    else if (one.kind === 'milestone') {
      const { id } = (await who.post(`${at}/milestones`, { title: one.title })).json
      if (id) await who.put(noteable, { milestone_id: id })
    } else if (one.kind === 'award') await who.post(`${noteable}/award_emoji`, { name: one.name })
    else if (one.kind === 'close') await who.put(noteable, { state_event: 'close' })
    else if (one.kind === 'spend') await who.post(`${noteable}/add_spent_time`, { duration: `${one.minutes}m` })
    else if (one.kind === 'assign') await who.put(noteable, { assignee_ids: [people[one.who % people.length]!.id] })
    else if (one.kind === 'link')
      await who.post(`${at}/issues/1/links`, {
        target_project_id: at.split('/')[2],
        target_issue_iid: 1 + (one.to % (issues + 1)),
      })
    else if (one.kind === 'release') {
      const { name, description } = one
      await who.post(`${at}/milestones`, { title: one.milestone })
      const milestones = [one.milestone]
      await world.root.post(`${at}/releases`, { tag_name: `v${++tags}`, ref: 'main', name, description, milestones })
    } else if (one.kind === 'snippet')
      await who.post(`${at}/snippets`, {
        title: one.title,
        visibility: 'public',
        files: [{ file_path: 'a', content: one.content }],
      })
    else if (one.kind === 'suggestion') await suggestLine(who, `${at}/merge_requests/1`, one)
    else if (one.kind === 'page') await who.post(`${at}/wikis`, { title: one.title, content: one.content })
    else await who.post(`${at}/boards`, { name: one.name })
  }
}

/** Suggests another first line of the file `b`, and applies that. */
async function suggestLine(who: Client, at: string, { text: line, applies }: { text: string; applies: boolean }) {
  const { diff_refs } = (await who.get(at)).json
  const position = { ...diff_refs, position_type: 'text', new_path: 'b', old_path: 'b', new_line: 1 }
  const made = await who.post(`${at}/discussions`, { body: block(line), position })
  const [suggestion] = made.json.notes?.[0].suggestions ?? []
  if (applies && suggestion) await apply(who, suggestion.id)
}

describe('generated projects', () => {
  test('export, import and export give equal bytes', async ({ world }) => {
    const people = [await world.user(), await world.user(), world.root]
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), async (steps) => {
        const { project } = await openMergeRequest(world, {
          members: [
            [people[0]!, 'maintainer'],
            [people[1]!, 'developer'],
          ],
        })
        await play(world, `/projects/${project.id}`, people, steps)
        const first = await exportOf(world, project.id)
        const { id, import_error } = await importOf(world, first)
        expect(import_error).toBeNull()
        const second = await exportOf(world, id)
        if (second.equals(first)) return
        const [before, after] = [await entriesOf(first), await entriesOf(second)]
        const texts = (entries: Map<string, Buffer>) =>
          [...entries].map(([name, content]) => [name, content.toString('latin1')])
        expect(texts(after)).toEqual(texts(before))
      }),
      { numRuns: 4 },
    )
  })
})
