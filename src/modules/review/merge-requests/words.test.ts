import { describe, expect, test as plain } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { matchesPattern } from '../../../../test/tables/review.ts'
import { test } from '../../../../test/world.ts'
import { references } from '../../discussion/noteables/reference.ts'
import { countTasks } from '../../discussion/noteables/tasks.ts'
import { cleanTitle } from '../../discussion/noteables/texts.ts'
import { draftPattern, isDraft } from './title.ts'

plain('control characters of a title become spaces', () => {
  expect(['a\r\nb', ' a\tb\n', 'a\u0000\u0007\u2028b', ' plain '].map(cleanTitle)).toEqual([
    'a b',
    'a b',
    'a b',
    ' plain ',
  ])
})

describe('titles of merge requests', () => {
  test('TypeScript and PostgreSQL recognize the same titles as drafts', async ({ world }) => {
    for (const [title, expected] of [
      ['WIP: x', true],
      ['wip: x', true],
      ['WIP x', true],
      ['[WIP] x', true],
      ['[wip]x', true],
      [' WIP: [WIP] x', true],
      ['WIP', false],
      ['WIPE x', false],
      ['x WIP: y', false],
      ['Draft: x', true],
      ['[draft]x', true],
      ['(Draft) x', true],
      ['Draft x', false],
      ['(WIP) x', false],
      ['[WIP x', false],
      ['', false],
    ] as const) {
      expect(isDraft(title), title).toBe(expected)
      const [{ found }] = await matchesPattern(world, title, draftPattern)
      expect(found, title).toBe(expected)
    }
  })
})

describe('task lists in descriptions', () => {
  plain.for([
    ['- [ ] a\n- [x] b\n* [X] c\n+ [ ] d\n1. [x] e\n2) [ ] f', 6, 3],
    ['  - [ ] inside\n\t- [x] inside', 2, 1],
    ['> - [x] quoted', 1, 1],
    ['[ ] a\n-[ ] b\n- [] c\n- [y] d\n- [ ]\n- [ ]e', 0, 0],
    ['1. [ ] a\n   - [x] b\n\n     more\n   - [ ] c', 3, 1],
    ['- [ ] a\r\n- [x] b\r- [ ] c', 3, 1],
    ['- - [ ] a\n- > - [x] b', 2, 1],
    ['text [ ] and `- [ ] b`\n- a [ ] b', 0, 0],
    ['```\n- [ ] a\n```\n- [x] b', 1, 1],
    ['~~~md\n- [ ] a\n- [x] b', 0, 0],
    ['- [ ] a\n  ```\n  - [ ] b\n  ```\n- [x] c', 2, 1],
    ['> ```\n> - [ ] a\n> ```\n- [ ] b', 1, 0],
    ['text\n\n    - [ ] a\n\t- [x] b\n', 0, 0],
    ['<!-- \n- [ ] a\n\n- [x] b\n-->\n- [ ] c', 1, 0],
    ['<pre>\n- [ ] a\n\n- [x] b\n</pre>\n\n- [ ] c', 1, 0],
    ['', 0, 0],
  ] as const)('the task list %j has %d tasks, of which %d are done', ([text, count, completed_count]) => {
    expect(countTasks(text)).toEqual({ count, completed_count })
  })

  plain('a missing description has no tasks', () => {
    expect(countTasks(null)).toEqual({ count: 0, completed_count: 0 })
  })

  plain('every line of a long description that looks like a task is counted', () => {
    expect(countTasks(`${'a\n'.repeat(10_000)}\n- [ ] b\n1. [x] c`)).toEqual({ count: 2, completed_count: 1 })
  })

  plain.for(['- ', ' ', '> ', '- [', '1', '\t'])('tasks are counted in linear time when %j repeats', (part) => {
    expectLinear((size) => countTasks(part.repeat(size)), 100_000)
  })
})

plain.for([
  [{ of: 'all' }, 'top/inner/app!7'],
  [{ of: 'project', id: 1, full_path: 'top/inner/app' }, '!7'],
  [{ of: 'project', id: 2, full_path: 'top/inner/other' }, 'app!7'],
  [{ of: 'project', id: 2, full_path: 'top/other' }, 'top/inner/app!7'],
  [{ of: 'group', full_path: 'top' }, 'inner/app!7'],
  [{ of: 'group', full_path: 'top/inner' }, 'app!7'],
  [{ of: 'group', full_path: 'to' }, 'top/inner/app!7'],
] as const)('the relative reference from %j is %s', ([within, relative]) => {
  expect(references('MergeRequest', { iid: 7, project_id: 1, full_path: 'top/inner/app' }, within)).toEqual({
    short: '!7',
    relative,
    full: 'top/inner/app!7',
  })
})
