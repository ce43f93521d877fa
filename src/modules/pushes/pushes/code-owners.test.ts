import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { CodeOwners } from './code-owners.ts'

describe('code owners', () => {
  test.for([
    ['* @ann', 'a.txt', true, 'a star matches every file'],
    ['* @ann', 'a/b/c.txt', true, 'a star matches in every folder'],
    ['*.rb @ann', 'lib/x.rb', true, 'an extension matches anywhere'],
    ['*.rb @ann', 'x.rbs', false, 'not a longer extension'],
    ['/x.rb @ann', 'x.rb', true, 'a slash anchors at the root'],
    ['/x.rb @ann', 'lib/x.rb', false, 'a slash anchors at the root only'],
    ['docs/ @ann', 'docs/a.md', true, 'a folder matches its content'],
    ['docs/ @ann', 'docs/a/b.md', true, 'a folder matches at any depth'],
    ['docs/ @ann', 'src/docs/a.md', true, 'a folder matches anywhere'],
    ['/docs/ @ann', 'src/docs/a.md', false, 'an anchored folder matches at the root only'],
    ['docs/* @ann', 'docs/a/b.md', false, 'a star matches one name'],
    ['docs/**/*.md @ann', 'docs/a/b/c.md', true, 'two stars match folders'],
    ['docs/**/*.md @ann', 'docs/c.md', true, 'two stars match no folder'],
    ['a?c @ann', 'abc', true, 'a question mark matches a letter'],
    ['[ab].md @ann', 'docs/b.md', true, 'brackets match one of their letters'],
    ['[ab].md @ann', 'c.md', false, 'brackets match no other letter'],
    ['\\*.md @ann', 'a.md', false, 'an escaped star matches a star only'],
    ['docs/** @ann', 'docs/a/b.md', true, 'two stars at the end match the content of a folder'],
    ['docs/** @ann', 'docs', false, 'two stars at the end do not match the folder'],
    ['path\\ with\\ blanks/ @ann', 'path with blanks/x', true, 'escaped spaces'],
    ['\\#file @ann', '#file', true, 'an escaped hash'],
    ['# * @ann', 'x', false, 'comments are ignored'],
    ['[Section] @ann', 'Section', false, 'headings are ignored'],
    ['* @ann\nREADME.md', 'README.md', false, 'the last match wins: no owner'],
    ['README.md\n* @ann', 'README.md', true, 'the last match wins: an owner'],
    ['x ann@example.com', 'x', true, 'an e-mail is an owner'],
    ['x ann', 'x', false, 'a word is not an owner'],
    ['\r\n* @ann\r\n', 'x', true, 'any line ends'],
    ['', 'x', false, 'an empty file has no owners'],
  ] as const)('%j and the path %s have owners: %s (%s)', async ([text, path, expected]) => {
    expect(await new CodeOwners(text).ownsAny([path])).toBe(expected)
  })

  // Backtracking would not end. kernel/glob.test.ts tests the cost.
  test('code owners are found for patterns on which a backtracking matcher would not end', async () => {
    const owners = new CodeOwners(`${'**/a*'.repeat(50)}b @ann\n${'*a'.repeat(200)}b @ann`)
    expect(await owners.ownsAny([`${'a/'.repeat(500)}${'a'.repeat(1000)}`])).toBe(false)
  })

  const lines = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n))
  const paths = lines(20_000, (n) => `src/a${n}/b.ts`)

  test('other requests have their turn while thousands of files are compared with thousands of entries', async () => {
    const owners = new CodeOwners(lines(1000, (n) => `a*${n}.md @ann`).join('\n'))
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 15))
    onTestFinished(() => clock.mockRestore())
    const order: string[] = []
    setImmediate(() => order.push('another'))
    await owners.ownsAny(paths.slice(0, 2000)).then(() => order.push('this one'))
    expect(order).toEqual(['another', 'this one'])
  })

  test('all of the most files are compared with the most entries, if these name files', async () => {
    const owners = new CodeOwners(lines(10_000, (n) => `/src/a${n}/c.ts @ann`).join('\n'))
    expect(await owners.ownsAny(paths)).toBe(false)
    expect(await owners.ownsAny([...paths, 'src/a9999/c.ts'])).toBe(true)
  })

  test('files have owners if it would take too many comparisons to tell', async () => {
    const owners = new CodeOwners(lines(10_000, (n) => `a*${n}b* @ann`).join('\n'))
    expect(await owners.ownsAny(paths.slice(0, 100))).toBe(false)
    expect(await owners.ownsAny(paths)).toBe(true)
  })

  test('all files have owners if there are more entries than are compared', async () => {
    const free = lines(10_000, (n) => `/docs/${n}.md`).join('\n')
    expect(await new CodeOwners(`${free}\n# a comment\n`).ownsAny(['src/a.sql'])).toBe(false)
    expect(await new CodeOwners(`${free}\n*.sql @ann\n`).ownsAny(['src/a.ts'])).toBe(true)
  })
})
