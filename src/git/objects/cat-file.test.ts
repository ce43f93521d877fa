import { expect, test } from 'vitest'
import type { Helper, Question } from '../runner/helper.ts'
import { Inbox } from '../runner/inbox.ts'
import { objectContent, objectInfo } from './cat-file.ts'

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
