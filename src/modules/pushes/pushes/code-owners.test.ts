import { describe, expect, test } from 'vitest'
import { CodeOwners } from './code-owners.ts'

describe('code owners', () => {
  test.for([
    ['* @ann', 'a.txt', true, 'a star is every file'],
    ['* @ann', 'a/b/c.txt', true, 'in every folder'],
    ['*.rb @ann', 'lib/x.rb', true, 'an ending, wherever'],
    ['*.rb @ann', 'x.rbs', false, 'and nothing longer'],
    ['/x.rb @ann', 'x.rb', true, 'a slash is the top'],
    ['/x.rb @ann', 'lib/x.rb', false, 'and only that'],
    ['docs/ @ann', 'docs/a.md', true, 'a folder is all in it'],
    ['docs/ @ann', 'docs/a/b.md', true, 'however deep'],
    ['docs/ @ann', 'src/docs/a.md', true, 'wherever it is'],
    ['/docs/ @ann', 'src/docs/a.md', false, 'unless at the top'],
    ['docs/* @ann', 'docs/a/b.md', false, 'a star is one name'],
    ['docs/**/*.md @ann', 'docs/a/b/c.md', true, 'two stars are folders'],
    ['docs/**/*.md @ann', 'docs/c.md', true, 'or none'],
    ['a?c @ann', 'abc', true, 'a question mark is a letter'],
    ['path\\ with\\ blanks/ @ann', 'path with blanks/x', true, 'blanks behind a backslash'],
    ['\\#file @ann', '#file', true, 'a hash, too'],
    ['# * @ann', 'x', false, 'a comment gives nothing'],
    ['[Section] @ann', 'Section', false, 'nor does a heading'],
    ['* @ann\nREADME.md', 'README.md', false, 'the last line counts: no owner any more'],
    ['README.md\n* @ann', 'README.md', true, 'the last line counts: an owner again'],
    ['x ann@example.com', 'x', true, 'an address is an owner'],
    ['x ann', 'x', false, 'a word is none'],
    ['\r\n* @ann\r\n', 'x', true, 'whatever ends lines'],
    ['', 'x', false, 'nothing gives nothing'],
  ] as const)('%j and %s: %s, %s', ([text, path, expected]) => {
    expect(new CodeOwners(text).owns(path)).toBe(expected)
  })

  // Backtracking would not end. git/path-pattern.test.ts tests the maximum number of comparisons.
  test('code owners are found for patterns on which a backtracking matcher would not end', () => {
    const owners = new CodeOwners(`${'**/a*'.repeat(50)}b @ann\n${'*a'.repeat(200)}b @ann`)
    expect(owners.owns(`${'a/'.repeat(500)}${'a'.repeat(1000)}`)).toBe(false)
  })
})
