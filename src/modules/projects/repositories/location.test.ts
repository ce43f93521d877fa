import { describe, expect, test } from 'vitest'
import { repositoryDir } from './location.ts'

describe('location of repositories', () => {
  test('the folder of a repository depends on storage and id only', () => {
    expect(repositoryDir('/data', 'default', 167)).toBe('/data/default/0a7/167.git')
    expect(repositoryDir('/data', 'fast-1', 4096 * 3 + 167)).toBe('/data/fast-1/0a7/12455.git')
    expect(repositoryDir('/data', 'default', 167, 'side')).toBe('/data/default/side/0a7/167.git')
  })
  test.for([0, -1, 1.5, Number.NaN, 2 ** 53])('%d is not the id of a repository', (id) => {
    expect(() => repositoryDir('/data', 'default', id)).toThrow('not the id of a repository')
  })
  test.for(['', '..', 'a/b', '/', 'Ä', 'x'.repeat(51)])('%j is not a storage', (storage) => {
    expect(() => repositoryDir('/data', storage, 1)).toThrow('not a storage')
  })
})
