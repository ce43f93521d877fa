import { expect, test } from 'vitest'
import type { Helper, Question } from '../runner/helper.ts'
import { Inbox } from '../runner/inbox.ts'
import { TestGit } from '../testing.ts'
import { objectContent, objectContents, objectInfo, objectInfos } from './cat-file.ts'

const [tree, module_] = ['1'.repeat(40), '2'.repeat(40)]

/** A helper that answers with these bytes, of which the rest belongs to the next question. */
function answering(text: string): { helper: Helper; rest: () => string } {
  const inbox = new Inbox()
  inbox.push(Buffer.from(text))
  const ask = async <T>(question: Question<T>) => question.read(inbox)?.answer
  return { helper: { ask } as unknown as Helper, rest: () => inbox.take(inbox.size).toString() }
}

// The git that runs the tests has one of the two answers.
for (const [version, answer] of [
  ['2.50', `${tree}:module missing\n`],
  ['2.51', `${module_} submodule\n`],
] as const)
  test(`the path of a submodule names no object, as git ${version} answers`, async () => {
    for (const ask of [objectInfo, (helper: Helper, spec: string) => objectContent(helper, spec, 100)]) {
      const { helper, rest } = answering(`${answer}next`)
      expect(await ask(helper, `${tree}:module`)).toBeUndefined()
      expect(rest()).toBe('next')
    }
  })

test('many questions are answered in their order, also when their answers arrive in pieces', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  const commits = Array.from({ length: 300 }, (_, n) => made.commit({ a: `${n}` }))
  const helper = await made.repo.objects()
  const missing = 'f'.repeat(40)
  const asked = [missing, ...commits, missing, 'HEAD:a']
  const infos = await objectInfos(helper, asked)
  expect(infos.map((info) => info?.oid)).toEqual([undefined, ...commits, undefined, expect.any(String)])
  const contents = await objectContents(helper, asked, 3)
  expect(contents.map((found) => found?.content?.toString())).toEqual([
    ...asked.slice(0, -1).map(() => undefined),
    '299',
  ])
  expect([await objectInfos(helper, []), await objectContents(helper, [], 3)]).toEqual([[], []])
})
