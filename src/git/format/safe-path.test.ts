import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { passChecks } from '../objects/file-check.ts'
import { newObject, treeObject, writeObjects } from '../objects/objects.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { isReadByGit, isSafePath } from './safe-path.ts'

let testGit: TestGit
let repository: TestRepository

beforeAll(async () => {
  testGit = await TestGit.start()
  repository = await testGit.repository()
})
afterAll(() => testGit[Symbol.asyncDispose]())

/** Names of tree entries, most of them similar to those that git reserves. */
const names = [
  ...[
    '.git',
    '.GIT',
    '.gIt',
    '.git ',
    '.git.',
    '.git. .',
    '.git . ',
    '.git...',
    '.git:',
    '.git:x',
    '.git::$INDEX_ALLOCATION',
  ],
  ...[
    'git~1',
    'GIT~1',
    'git~1 ',
    'git~1.',
    'git~1:x',
    'git~2',
    'git~10',
    'git~1x',
    'git',
    'git ',
    'git.',
    '.gitx',
    '.git x',
  ],
  ...[
    '.g\u200cit',
    '\u200d.git',
    '.git\u200e',
    '.gi\u200ft',
    '\u202a.git',
    '.\u202bgit',
    '.git\u202c',
    '.gi\u202dt',
    '\u202e.git',
  ],
  ...[
    '.g\u206ait',
    '.gi\u206bt',
    '.git\u206c',
    '.\u206dgit',
    '\u206e.git',
    '.git\u206f',
    '\ufeff.git',
    '.GI\u200cT',
    '.g\u200bit',
  ],
  ...[
    '\\.git',
    'x\\.git',
    'x\\.git\\y',
    'x\\git~1',
    '.git\\x',
    'x\\.git ',
    'x\\.git:y',
    'x\\.gity',
    '\\',
    'a\\b',
    '\\..\\.git',
  ],
  ...['.gitignore', '.gitattributes', '.gitkeep', '.github', '.mailmap', '.gitmodules', 'gitmod~1', 'GI7EBA~1'],
  ...[
    'a',
    'a b',
    ' a',
    'a ',
    '.a',
    'a.',
    '-a',
    '--help',
    '~',
    '*',
    '?',
    '"',
    "'",
    '$(id)',
    'ä',
    '\u{1f600}',
    'con',
    'nul',
    'a:b',
    '\t',
    '\u0001',
  ],
]

describe('safe paths', () => {
  test('a path is safe exactly if git accepts it in a push', async () => {
    const blob = newObject('blob', Buffer.from('x'))
    const trees = new Map<string, string>()
    for (const name of names) {
      const tree = treeObject([{ mode: '160000', name, oid: blob.oid }])
      await writeObjects(repository.repo, [tree])
      trees.set(name, tree.oid)
    }
    const { stdout, stderr } = spawnSync('git', ['-C', repository.gitDir, 'fsck', '--strict'], { encoding: 'utf8' })
    const reported = new Set(
      [...`${stdout}${stderr}`.matchAll(/in tree ([0-9a-f]+): hasDotgit/g)].map((match) => match[1]),
    )
    expect(reported.size).toBeGreaterThan(40)
    for (const name of names) {
      const refused = reported.has(trees.get(name)!)
      expect([name, isSafePath(name)]).toEqual([name, !refused])
      expect([name, isSafePath(`a/${name}/b`)]).toEqual([name, !refused])
    }
  })

  test.for([
    ['', false],
    ['/', false],
    ['/a', false],
    ['a/', false],
    ['a//b', false],
    ['.', false],
    ['a/.', false],
    ['..', false],
    ['../a', false],
    ['a/../b', false],
    ['a\0b', false],
    ['a\nb', false],
    ['a\rb', false],
    ['\ud800', false],
    ['\udcff', false],
    ['x'.repeat(255), true],
    ['x'.repeat(256), false],
    ['ä'.repeat(128), false],
    [`${'x/'.repeat(2047)}yy`, true],
    [`${'x/'.repeat(2048)}y`, false],
    ['...', true],
    ['a/..b', true],
  ] as const)('the path %j is safe: %s', ([path, safe]) => {
    expect(isSafePath(path)).toBe(safe)
  })

  test('.gitmodules and .gitattributes pass exactly if git accepts them in a push', async () => {
    const check = (name: string, text: string, mode = '100644') => {
      return passChecks(repository.repo, [{ name, mode, blob: newObject('blob', Buffer.from(text)) }])
    }
    const submodule = (url: string, path = 'x', name = 'x') =>
      `[submodule "${name}"]\n\tpath = ${path}\n\turl = ${url}\n`
    for (const name of [
      '.gitmodules',
      '.GITMODULES',
      'gitmod~1',
      'GI7EBA~1',
      '.gitmodules ',
      '.git\u200cmodules',
      'x\\.gitmodules',
    ]) {
      expect([name, isReadByGit(name)]).toEqual([name, true])
      expect([name, await check(name, submodule('https://example.com/x.git'))]).toEqual([name, true])
      expect([name, await check(name, submodule('-u./x'))]).toEqual([name, false])
    }
    expect(await check('.gitmodules', submodule('../x', '-x'))).toBe(false)
    expect(await check('.gitmodules', submodule('../x', 'x', '../../x'))).toBe(false)
    expect(await check('.gitmodules', '[submodule "x"]\n\tupdate = !sh\n')).toBe(false)
    expect(await check('.gitmodules', '../x', '120000')).toBe(false)
    expect(await check('.gitattributes', '* text=auto\n')).toBe(true)
    expect(await check('.gitattributes', 'x'.repeat(5000))).toBe(false)
    expect(repository.git('count-objects')).toContain(`${names.length} objects`)
  })
})
