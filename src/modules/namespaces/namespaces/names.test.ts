import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import {
  groupNameViolations,
  namespacePathViolations,
  pathFromName,
  projectNameViolations,
  projectPathViolations,
} from './names.ts'

const namespaceText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
const projectText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"
const projectNameText =
  "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."

describe('paths of users and groups', () => {
  test.for(['ann', 'Ann.B_c-1', '.hidden', '_x', '0', 'a'.repeat(255)])(
    'the path %s of a user or group is valid',
    (path) => {
      expect(namespacePathViolations(path, false)).toEqual([])
    },
  )
  test.for(['-ann', 'ann.', 'ann.git', 'ann.GIT', 'ann.atom', 'a b', 'a/b', 'ä', 'a\n', '@'])(
    'the path %j of a user or group is invalid',
    (path) => {
      expect(namespacePathViolations(path, false)).toEqual([namespaceText])
    },
  )
  test('the path of a user or group cannot be empty or longer than 255 characters', () => {
    expect(namespacePathViolations('', false)).toEqual(["can't be blank"])
    expect(namespacePathViolations('a'.repeat(256), false)).toEqual(['is too long (maximum is 255 characters)'])
  })
  test.for(['api', 'Admin', 'robots.txt', 'v2', 'users', 'groups', 'help', 'sitemap'])(
    'the path %s is reserved at the top level',
    (path) => {
      expect(namespacePathViolations(path, false)).toContain(`${path} is a reserved name`)
      expect(namespacePathViolations(path, true)).not.toContain(`${path} is a reserved name`)
    },
  )
  test.for(['tree', 'Blob', 'wikis', 'new', 'edit', 'refs', 'raw', 'badges'])(
    'the path %s is reserved below a group',
    (path) => {
      expect(namespacePathViolations(path, true)).toEqual([`${path} is a reserved name`])
      expect(namespacePathViolations(path, false)).toEqual([])
    },
  )
})

describe('paths of projects', () => {
  test.for(['app', '.hidden', 'ends.with.dot.', '_', 'x.wiki', 'api', 'a'.repeat(255)])(
    'the path %s of a project is valid',
    (path) => {
      expect(projectPathViolations(path)).toEqual([])
    },
  )
  test.for(['-app', 'app.git', 'app.Atom', 'a/b', '..', '.', 'a b', 'ü'])(
    'the path %j of a project is invalid',
    (path) => {
      expect(projectPathViolations(path)).toEqual([projectText])
    },
  )
  test.for(['tree', 'Commits', 'info/lfs/objects', '-'])('the path %s of a project is reserved', (path) => {
    expect(projectPathViolations(path)).toContain(`${path} is a reserved name`)
  })
})

describe('names of projects', () => {
  test.for(['App', '1st', '_private', '🚀 rocket', 'Größe – neu', 'c++', '👩‍💻 code', 'a.b c-d', '名前'])(
    'the name %s of a project is valid',
    (name) => {
      expect(projectNameViolations(name)).toEqual([])
    },
  )
  test.for([' lead', '-x', '.x', 'a/b', 'a:b', '<b>', 'a\nb'])('the name %j of a project is invalid', (name) => {
    expect(projectNameViolations(name)).toEqual([projectNameText])
  })
  test('the length of a name is counted in characters, not UTF-16 units', () => {
    expect(projectNameViolations('🚀'.repeat(255))).toEqual([])
    expect(projectNameViolations('🚀'.repeat(256))).toEqual(['is too long (maximum is 255 characters)'])
  })
})

describe('names of groups', () => {
  test.for(['Team', 'Team (old)', '-dash', 'Über_uns', '🦊'])('the name %s of a group is valid', (name) => {
    expect(groupNameViolations(name)).toEqual([])
  })
  test.for(['a/b', 'a&b', '<script>', 'a\tb'])('the name %j of a group is invalid', (name) => {
    expect(groupNameViolations(name)).toEqual(["can contain only letters, digits, '_', '.', dash and space."])
  })
})

describe('paths derived from names', () => {
  test.for([
    ['My Project', 'my-project'],
    ['Größe neu', 'grosse-neu'],
    ['Smørrebrød & Æbler', 'smorrebrod-aebler'],
    ['Łódź', 'lodz'],
    ['release 1.2', 'release-1-2'],
    ['snake_case', 'snake_case'],
    ['🚀 rocket!', 'rocket'],
    ['Ending.git', 'ending-git'],
    ['名前', ''],
  ])('the path derived from %s is %j', ([name, path]) => {
    expect(pathFromName(name!)).toBe(path)
  })
})

test.for(['\ufe0f', '\u200d', '😀', ' ', '-', 'a'])(
  'names that repeat %j before a bad character are refused in linear time',
  (part) => {
    expectLinear((size) => {
      const name = `a${part.repeat(size)}<`
      return [groupNameViolations(name), projectNameViolations(name), pathFromName(name)]
    }, 20_000)
  },
)
