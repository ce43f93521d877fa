import { describe, expect, test } from 'vitest'
import {
  groupNameComplaints,
  namespacePathComplaints,
  pathFromName,
  projectNameComplaints,
  projectPathComplaints,
} from './names.ts'

const namespaceText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
const projectText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"
const projectNameText =
  "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."

describe('the path of a user or group', () => {
  test.for(['ann', 'Ann.B_c-1', '.hidden', '_x', '0', 'a'.repeat(255)])('may be %s', (path) => {
    expect(namespacePathComplaints(path, false)).toEqual([])
  })
  test.for(['-ann', 'ann.', 'ann.git', 'ann.GIT', 'ann.atom', 'a b', 'a/b', 'ä', 'a\n', '@'])(
    'may not be %j',
    (path) => {
      expect(namespacePathComplaints(path, false)).toEqual([namespaceText])
    },
  )
  test('may not be empty or longer than 255', () => {
    expect(namespacePathComplaints('', false)).toEqual(["can't be blank"])
    expect(namespacePathComplaints('a'.repeat(256), false)).toEqual(['is too long (maximum is 255 characters)'])
  })
  test.for(['api', 'Admin', 'robots.txt', 'v2', 'users', 'groups', 'help', 'sitemap'])(
    'may not be %s at the top',
    (path) => {
      expect(namespacePathComplaints(path, false)).toContain(`${path} is a reserved name`)
      expect(namespacePathComplaints(path, true)).not.toContain(`${path} is a reserved name`)
    },
  )
  test.for(['tree', 'Blob', 'wikis', 'new', 'edit', 'refs', 'raw', 'badges'])('may not be %s below a group', (path) => {
    expect(namespacePathComplaints(path, true)).toEqual([`${path} is a reserved name`])
    expect(namespacePathComplaints(path, false)).toEqual([])
  })
})

describe('the path of a project', () => {
  test.for(['app', '.hidden', 'ends.with.dot.', '_', 'x.wiki', 'api', 'a'.repeat(255)])('may be %s', (path) => {
    expect(projectPathComplaints(path)).toEqual([])
  })
  test.for(['-app', 'app.git', 'app.Atom', 'a/b', '..', '.', 'a b', 'ü'])('may not be %j', (path) => {
    expect(projectPathComplaints(path)).toEqual([projectText])
  })
  test.for(['tree', 'Commits', 'info/lfs/objects', '-'])('may not be the reserved %s', (path) => {
    expect(projectPathComplaints(path)).toContain(`${path} is a reserved name`)
  })
})

describe('the name of a project', () => {
  test.for(['App', '1st', '_private', '🚀 rocket', 'Größe – neu', 'c++', '👩‍💻 code', 'a.b c-d', '名前'])(
    'may be %s',
    (name) => {
      expect(projectNameComplaints(name)).toEqual([])
    },
  )
  test.for([' lead', '-x', '.x', 'a/b', 'a:b', '<b>', 'a\nb'])('may not be %j', (name) => {
    expect(projectNameComplaints(name)).toEqual([projectNameText])
  })
  test('counts characters, not units of UTF-16', () => {
    expect(projectNameComplaints('🚀'.repeat(255))).toEqual([])
    expect(projectNameComplaints('🚀'.repeat(256))).toEqual(['is too long (maximum is 255 characters)'])
  })
})

describe('the name of a group', () => {
  test.for(['Team', 'Team (old)', '-dash', 'Über_uns', '🦊'])('may be %s', (name) => {
    expect(groupNameComplaints(name)).toEqual([])
  })
  test.for(['a/b', 'a&b', '<script>', 'a\tb'])('may not be %j', (name) => {
    expect(groupNameComplaints(name)).toEqual(["can contain only letters, digits, '_', '.', dash and space."])
  })
})

describe('a path made from a name', () => {
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
  ])('%s becomes %j', ([name, path]) => {
    expect(pathFromName(name!)).toBe(path)
  })
})
