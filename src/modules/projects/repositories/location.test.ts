import { describe, expect, test } from 'vitest'
import { repositoryDir } from './location.ts'

describe('where a repository lies', () => {
  test('follows from the storage and the id alone', () => {
    expect(repositoryDir('/data', 'default', 167)).toBe('/data/default/0a7/167.git')
    expect(repositoryDir('/data', 'fast-1', 4096 * 3 + 167)).toBe('/data/fast-1/0a7/12455.git')
    expect(repositoryDir('/data', 'default', 167, 'wiki')).toBe('/data/default/0a7/167.wiki.git')
  })
  test.for([0, -1, 1.5, Number.NaN, 2 ** 53])('%d is no id', (id) => {
    expect(() => repositoryDir('/data', 'default', id)).toThrow('not a project id')
  })
  test.for(['', '..', 'a/b', '/', 'Ä', 'x'.repeat(51)])('%j is no storage', (storage) => {
    expect(() => repositoryDir('/data', storage, 1)).toThrow('not a storage')
  })
})
