import { expect, test } from 'vitest'
import type { ChangeRow } from './queries.ts'
import { targetThen } from './refs-then.ts'

/** `3:a>b` is a change by push 3 from a to b; `-` is no ref. */
const change = (text: string): ChangeRow => {
  const [, push, from, to] = /^(\d+):(.+)>(.+)$/.exec(text)!
  const oid = (name: string) => (name === '-' ? null : name)
  return {
    ...{ kind: 'project', repository_id: 1, push_id: Number(push), state: 'done', ref: 'refs/heads/main' },
    ...{ old_oid: oid(from!), new_oid: oid(to!) },
  } as ChangeRow
}

test.for([
  ['nothing has happened', 'a', '', '', 'a'],
  ['one move', 'b', '1:a>b', '', 'a'],
  ['a chain of moves', 'd', '1:a>b 2:b>c 3:c>d', '', 'a'],
  ['a chain whose pushes began in another order', 'd', '1:c>d 2:b>c 3:a>b', '', 'a'],
  ['a ref that was created', 'a', '1:->a', '', null],
  ['a ref that was deleted', null, '1:a>-', '', 'a'],
  ['a ref that was deleted and created again', 'b', '1:a>- 2:->b', '', 'a'],
  ['a ref that was created and deleted', null, '1:->a 2:a>-', '', null],
  ['a move there and back', 'a', '1:a>b 2:b>a', '', 'a'],
  ['several moves there and back', 'b', '1:a>b 2:b>a 3:a>b', '', 'a'],
  ['moves that were done at the moment', 'c', '1:a>b 2:b>c', '1:done 2:done', 'c'],
  ['one move that was done, and one later', 'c', '1:a>b 2:b>c', '1:done', 'b'],
  // Its move may have come before or after: it is left as it is, and the restored journal completes the push.
  ['a push that was intended', 'b', '1:a>b', '1:intended', 'b'],
  ['an intended push, continued later', 'c', '1:a>b 2:b>c', '1:intended', 'b'],
  ['an intended push whose move came between others', 'd', '1:b>c 2:a>b 3:c>d', '1:intended', 'a'],
  ['moves that form no path', 'z', '1:a>b', '', undefined],
] as const)('targetThen of %s', ([, now, changes, before, expected]) => {
  const states = new Map(
    before
      .split(' ')
      .filter(Boolean)
      .map((each) => [Number(each.split(':')[0]), each.split(':')[1]!]),
  )
  expect(targetThen(now, changes.split(' ').filter(Boolean).map(change), states)).toBe(expected)
})
