import { expect, test } from 'vitest'
import { namedCommits } from './named.ts'

const site = 'https://example.com'
const hash = '1234567890abcdef1234567890abcdef12345678'

test('a text names commits by hash, by path and hash, and by URL, each once', () => {
  const text = `See ${hash}, ${hash} and group/project@abcdef0; ${site}/group/sub/project/-/commit/${hash}. Also other@1234567.`
  expect(namedCommits(text, site)).toEqual([
    { path: 'group/sub/project', hash },
    { hash },
    { path: 'group/project', hash: 'abcdef0' },
    { path: 'other', hash: '1234567' },
  ])
})

test('code, short hashes, ranges, words with letters and other sites name no commit', () => {
  for (const text of [
    `\`${hash}\``,
    '```\nabcdef0\n```',
    'abcdef',
    'abcdef0..abcdef1',
    'xabcdef0 abcdef0x',
    `https://other.example/a/b/-/commit/${hash}`,
    `${hash}${hash}`,
  ])
    expect(namedCommits(text, site), text).toEqual([])
})

test('at most 100 commits of one text are found, and a long text takes no long time for each character', () => {
  const many = Array.from({ length: 200 }, (_, index) => `${index}`.padStart(7, '1')).join(' ')
  expect(namedCommits(many, site)).toHaveLength(100)
  expect(namedCommits('a/'.repeat(100_000), site)).toEqual([])
  expect(namedCommits(`${site}/${'a/'.repeat(100_000)}`, site)).toEqual([])
})
