import { expect, test } from 'vitest'
import type { ChangeRow } from './queries.ts'
import { targetOfMoving, targetThen } from './refs-then.ts'

/** `3:a>b` is a change by push 3 from a to b, `3:a>b?` one that was only intended; `-` is no ref. */
const change = (text: string): ChangeRow => {
  const [, push, from, to, intended] = /^(\d+):(.+)>(.+?)(\?)?$/.exec(text)!
  const oid = (name: string) => (name === '-' ? null : name)
  return {
    ...{
      kind: 'project',
      repository_id: 1,
      push_id: Number(push),
      state: intended ? 'intended' : 'done',
      ref: 'refs/heads/main',
    },
    ...{ old_oid: oid(from!), new_oid: oid(to!) },
  } as ChangeRow
}

const words = (text: string) => text.split(' ').filter(Boolean)
const changesOf = (text: string) => words(text).map(change)
/** `3:done` is the state of push 3. */
const statesOf = (text: string) => new Map(words(text).map((each) => [Number(each.split(':')[0]), each.split(':')[1]!]))

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
  expect(targetThen(now, changesOf(changes), statesOf(before))).toBe(expected)
})

test.for([
  ['one whose last move came after it was read', 'b', '1:a>b 2:b>c', '', 'a'],
  ['one that was read before all moves', 'a', '1:a>b 2:b>c', '', 'a'],
  ['one whose push has not moved it', 'a', '1:a>b?', '', 'a'],
  ['one whose push has moved it, and is not done', 'b', '1:a>b?', '', 'a'],
  ['one whose push was continued before it was done', 'c', '1:a>b? 2:b>c', '', 'a'],
  ['one with a further intended push', 'b', '1:a>b 2:b>c?', '', 'a'],
  ['one that was created', null, '1:->a', '', null],
  ['one whose push was intended at the moment', 'b', '1:a>b', '1:intended', 'b'],
  ['one that returned', 'a', '1:a>b 2:b>a', '', undefined],
] as const)('targetOfMoving of %s', ([, now, changes, before, expected]) => {
  expect(targetOfMoving(now, changesOf(changes), statesOf(before))).toBe(expected)
})

/** Pushes of one ref as they may happen, in turns that `random` decides. */
function history(random: (below: number) => number) {
  type Push = Omit<ChangeRow, 'state'> & { state: ChangeRow['state'] | 'dropped'; moved: boolean }
  const pushes: Push[] = []
  let now: string | null = 'start'
  /** The value of the ref, and which moves led there. */
  const values: { value: string | null; by: Push | undefined }[] = [{ value: now, by: undefined }]
  const step = () => {
    const open = pushes.filter(({ state }) => state === 'intended')
    const push = open[random(open.length + 2)]
    if (push === undefined) {
      if (open.length < 3)
        pushes.push({
          ...change(`${pushes.length + 1}:a>b?`),
          old_oid: now,
          new_oid: `c${pushes.length}`,
          moved: false,
        } as Push)
    } else if (push.moved || push.old_oid !== now) Object.assign(push, { state: push.moved ? 'done' : 'dropped' })
    else {
      now = push.new_oid
      push.moved = true
      values.push({ value: now, by: push })
    }
  }
  const steps = (count: number) => {
    for (let n = 0; n < count; n++) step()
  }
  steps(random(12))
  const before = new Map(
    pushes.filter(({ state }) => state !== 'dropped').map((push) => [push.push_id, push.state as string]),
  )
  const known = new Set(pushes.map(({ push_id }) => push_id))
  steps(random(12))
  const read = now
  steps(random(12))
  const changes = pushes.filter(({ state }) => state !== 'dropped').map((push) => ({ ...push }) as ChangeRow)
  steps(30)
  /** All moves before the moment are of pushes that were known then, and those of pushes that were done then are among them. */
  const right = values.filter(
    (_, index) =>
      values.slice(1, index + 1).every(({ by }) => known.has(by!.push_id)) &&
      values.slice(index + 1).every(({ by }) => before.get(by!.push_id) !== 'done'),
  )
  return { read, changes, before, right: right.map(({ value }) => value) }
}

test('targetOfMoving finds a target that the ref had at the moment, however many pushes are moving it', () => {
  let seed = 1
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  for (let n = 0; n < 20_000; n++) {
    const { read, changes, before, right } = history(random)
    const found = targetOfMoving(read, changes, before)
    expect(right, JSON.stringify({ read, changes, before: [...before], found })).toContain(found)
  }
})
