import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { testEnv } from '../../../git/testing.ts'
import { hostilePaths, hostileRefs, openAndClosed, type StoredProject, storedProject } from '../commits/testing.ts'
import { suffixes } from './names.ts'

const enc = encodeURIComponent
const at = (project: { id: number }, suffix = '', query = '') =>
  `/projects/${project.id}/repository/archive${suffix}${query && `?${query}`}`

const bytes = async (world: World, path: string, who: Client = world.root) => {
  const answer = await request(`${world.origin}/api/v4${path}`, { headers: { 'private-token': who.token! } })
  expect(answer.statusCode, path).toBe(200)
  return { headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) }
}

const programs: Record<string, string> = { gz: 'gzip', tgz: 'gzip', 'tar.gz': 'gzip', tar: 'cat' }

/** Content of an archive as real programs unpack it: path → mode and content, or target of a link. */
function unpacked(body: Buffer, suffix: string): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'stithy-archive-'))
  const file = join(folder, 'archive')
  const out = join(folder, 'out')
  writeFileSync(file, body)
  execFileSync('mkdir', [out])
  // Without a locale, unzip does not write names that are not ASCII unchanged.
  if (suffix === 'zip') execFileSync('unzip', ['-q', file, '-d', out], { env: { ...process.env, LC_ALL: 'C.UTF-8' } })
  else {
    const program = programs[suffix] ?? 'bzip2'
    const plain = program === 'cat' ? body : execFileSync(program, ['-dc', file], { maxBuffer: 1024 ** 3 })
    execFileSync('tar', ['-xpf', '-', '-C', out], { input: plain })
  }
  const found: Record<string, string> = {}
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(out.length + 1)
    if (entry.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`
    else if (entry.isFile())
      found[name] = `${(lstatSync(path).mode & 0o100) === 0 ? 'file' : 'program'} ${readFileSync(path, 'latin1')}`
  }
  execFileSync('rm', ['-rf', folder])
  return found
}

const prefixed = (top: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [`${top}/${name}`, content]))

describe('GET /projects/:id/repository/archive', () => {
  test('D1-ARCHIVE-FORMAT: real programs unpack every format, which is byte-identical each time', async ({ world }) => {
    const project = await storedProject(world)
    const commit = project.repository.commit({
      'a.txt': 'one\r\n',
      'dir/run.sh': { mode: '100755', content: '#!/bin/sh\n' },
      'dir/ünï.txt': 'é',
      link: { mode: '120000', content: 'dir/../a.txt' },
      sub: { mode: '160000', oid: 'c'.repeat(40) as Oid },
      '-flag': '',
      binary: Buffer.from([0, 255, 10, 13]),
    })
    const path = project.full_path.split('/').at(-1)!
    const top = `${path}-main-${commit}`
    const expected = prefixed(top, {
      'a.txt': 'file one\r\n',
      'dir/run.sh': 'program #!/bin/sh\n',
      'dir/ünï.txt': 'file \xc3\xa9',
      link: '-> dir/../a.txt',
      '-flag': 'file ',
      binary: 'file \0\xff\n\r',
    })
    const seen = new Map<string, Buffer>()
    for (const suffix of suffixes) {
      const one = await bytes(world, at(project, `.${suffix}`))
      expect(unpacked(one.body, suffix), suffix).toEqual(expected)
      const name = suffix === 'zip' || suffix === 'tar' ? suffix : /b/.test(suffix) ? 'tar.bz2' : 'tar.gz'
      expect(one.headers['content-disposition']).toBe(
        `attachment; filename="${top}.${name}"; filename*=UTF-8''${top}.${name}`,
      )
      expect(one.headers['content-type']).toBe(suffix === 'zip' ? 'application/zip' : 'application/octet-stream')
      seen.set(suffix, one.body)
    }
    // Waits until the clock changes, so that a time in the archive would differ.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    for (const [suffix, body] of seen)
      expect((await bytes(world, at(project, `.${suffix}`))).body.equals(body), suffix).toBe(true)
    const usual = await bytes(world, at(project, '.tar.gz'))
    expect((await bytes(world, at(project))).body.equals(usual.body)).toBe(true)
    const zip = await bytes(world, at(project, '.zip'))
    expect((await bytes(world, at(project, '', 'format=zip'))).body.equals(zip.body)).toBe(true)
    // The time in the gzip header is zero.
    expect(usual.body.readUInt32LE(4)).toBe(0)
    for (const suffix of ['rar', 'tar.xz', 'json', '1', 'tar.gz.gz', 'TAR'])
      expect(await world.root.get(at(project, `.${suffix}`)), suffix).toMatchObject({ status: 400 })
    expect(await world.root.get(at(project, '.tar%2Fgz'))).toMatchObject({ status: 400 })
  })

  test('D1-ARCHIVE-SHA: archive of a branch, tag, full or short id, or the default branch', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: 'first' })
    const second = project.repository.commit({ a: 'second' })
    project.repository.git('tag', 'v1.0', first)
    project.repository.git('branch', 'feature/x', first)
    const path = project.full_path.split('/').at(-1)!
    for (const [sha, top, content] of [
      ['', `main-${second}`, 'second'],
      ['main', `main-${second}`, 'second'],
      ['v1.0', `v1.0-${first}`, 'first'],
      ['feature/x', `feature-x-${first}`, 'first'],
      [first, `${first}-${first}`, 'first'],
      [first.slice(0, 8), `${first.slice(0, 8)}-${first}`, 'first'],
      ['refs/heads/feature/x', `refs-heads-feature-x-${first}`, 'first'],
    ] as const) {
      const got = await bytes(world, at(project, '.tar', `sha=${enc(sha)}`))
      expect(unpacked(got.body, 'tar'), sha).toEqual({ [`${path}-${top}/a`]: `file ${content}` })
      expect(got.headers['content-disposition']).toContain(`filename="${path}-${top}.tar"`)
      expect(String(got.headers['cache-control']).includes('immutable'), sha).toBe(sha === first)
    }
    const entry = await bytes(world, at(project, '.tar', `sha=${first}`))
    expect(execFileSync('git', ['get-tar-commit-id'], { input: entry.body }).toString().trim()).toBe(first)
  })

  test('archive of a path contains only that path', async ({ world }) => {
    const project = await storedProject(world)
    const commit = project.repository.commit({ 'lib/deep/a': 'a', 'lib/-b': 'b', other: 'c', '--help': 'h' })
    const top = (path: string) => `${project.full_path.split('/').at(-1)}-main-${commit}-${path}`
    const get = async (path: string) =>
      unpacked((await bytes(world, at(project, '.tar', `path=${enc(path)}`))).body, 'tar')
    expect(await get('lib/deep')).toEqual({ [`${top('lib-deep')}/lib/deep/a`]: 'file a' })
    expect(await get('lib/')).toEqual(prefixed(top('lib'), { 'lib/deep/a': 'file a', 'lib/-b': 'file b' }))
    expect(await get('--help')).toEqual({ [`${top('--help')}/--help`]: 'file h' })
    for (const path of ['nope', 'lib/nope', '*', ':(top)lib'])
      expect(await world.root.get(at(project, '.tar', `path=${enc(path)}`)), path).toMatchObject({
        status: 404,
        json: { message: '404 File Not Found' },
      })
  })

  test('.gitattributes exclude and substitute files of an archive; LFS pointers stay', async ({ world }) => {
    const project = await storedProject(world)
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'
    const commit = project.repository.commit({
      '.gitattributes': 'secret export-ignore\ntests export-ignore\nversion export-subst\n*.bin filter=lfs\n',
      secret: 's',
      'tests/a': 't',
      version: '$Format:%H$\n',
      'x.bin': pointer,
    })
    project.repository.git('config', 'filter.lfs.smudge', 'echo smudged')
    project.repository.git('config', 'filter.lfs.required', 'true')
    project.repository.git('config', 'tar.tar.gz.command', 'touch /tmp/evil; cat')
    const top = `${project.full_path.split('/').at(-1)}-main-${commit}`
    const found = unpacked((await bytes(world, at(project))).body, 'tar.gz')
    delete found[`${top}/.gitattributes`]
    expect(found).toEqual(prefixed(top, { version: `file ${commit}\n`, 'x.bin': `file ${pointer}` }))
  })

  test('HEAD of an archive has the headers of GET', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a' })
    for (const suffix of ['', '.zip', '.tar.bz2']) {
      const head = await world.root.head(at(project, suffix))
      const got = await world.root.get(at(project, suffix))
      expect(head).toMatchObject({ status: 200, text: '' })
      for (const name of ['content-type', 'content-disposition', 'cache-control'])
        expect(head.headers[name], name).toBe(got.headers[name])
    }
    expect(await world.root.head(at(project, '', 'sha=nope'))).toMatchObject({ status: 404 })
  })

  test('404 for an archive of a missing or hostile ref or path', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'a', 'dir/b.txt': 'b' })
    const missing = { status: 404, json: { message: '404 File Not Found' } }
    expect(await world.root.get(at(project, '', 'sha=nope'))).toMatchObject(missing)
    expect(await world.root.get(at(await storedProject(world)))).toMatchObject(missing)
    for (const sha of hostileRefs) {
      const { status } = await world.root.get(at(project, '.tar', `sha=${enc(sha)}`))
      expect([400, 404], JSON.stringify(sha)).toContain(status)
    }
    for (const path of hostilePaths) {
      if (/^(a\.txt|dir)\/+$/.test(path)) continue
      const { status } = await world.root.get(at(project, '.tar', `path=${enc(path)}`))
      expect([400, 404, 414], JSON.stringify(path)).toContain(status)
    }
  })

  test('D1-AUTH-PUBLIC-READS: an archive needs read access to the code', async ({ world }) => {
    const { open, closed, stranger, guest, reporter } = await openAndClosed(world)
    expect(await world.anonymous.get(at(open))).toMatchObject({ status: 200 })
    for (const [who, status] of [
      [world.anonymous, 404],
      [stranger, 404],
      [guest, 403],
      [reporter, 200],
      [await world.as(reporter, ['read_repository']), 403],
      [await world.as(reporter, ['read_api']), 200],
    ] as const)
      for (const suffix of ['', '.zip']) expect(await who.get(at(closed, suffix))).toMatchObject({ status })
  })

  test('an archive format is unavailable when its program is missing', async ({ world }) => {
    const { archiveStream, canArchive } = await import('../../../git/transfer/archive.ts')
    const { Runner } = await import('../../../git/runner/client.ts')
    const { Git } = await import('../../../git/git.ts')
    const project: StoredProject = await storedProject(world)
    const commit = project.repository.commit({ a: 'a' })
    const folder = mkdtempSync(join(tmpdir(), 'stithy-path-'))
    for (const program of ['git', 'sh']) {
      const found = execFileSync('sh', ['-c', `command -v ${program}`])
        .toString()
        .trim()
      writeFileSync(join(folder, program), `#!/bin/sh\nexec ${found} "$@"\n`)
      chmodSync(join(folder, program), 0o755)
    }
    const socket = project.repository.repo.git.runner.socketPath
    await using runner = await Runner.connect(socket, { path: folder })
    await using git = new Git(runner)
    const repo = git.open(project.repository.gitDir)
    expect(await canArchive(repo, 'tar.gz')).toBe(true)
    expect(await canArchive(repo, 'tar.bz2')).toBe(false)
    await expect(archiveStream(repo, commit, { format: 'tar.bz2', prefix: 'x/' })).rejects.toThrow('archive')
    expect(await canArchive(project.repository.repo, 'tar.bz2')).toBe(true)
  })
})

describe('large archives', () => {
  const size = 64 * 1024 * 1024

  /** Eight files of incompressible content, which never pass through this process. */
  function grow({ repository }: StoredProject) {
    const made = `for name in 1 2 3 4 5 6 7 8; do
      oid=$(head -c ${size / 8} /dev/urandom | git -c core.compression=0 hash-object -w --stdin)
      printf '100644 blob %s\\t%s\\n' $oid $name
    done | git mktree`
    const tree = execFileSync('sh', ['-c', made], { cwd: repository.gitDir, env: testEnv }).toString().trim()
    repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', '-m', 'Large', tree))
  }

  // test/scenarios/memory.test.ts tests that it streams in little memory.
  test('the git process of an archive ends when the client disconnects', async ({ world }) => {
    const project = await storedProject(world)
    grow(project)
    const processes = () =>
      execFileSync('sh', ['-c', `ps -eo args | grep "[g]it-dir=${project.repository.gitDir} archive" | wc -l`])
        .toString()
        .trim()
    const open = (suffix: string) =>
      request(`${world.origin}/api/v4${at(project, suffix)}`, { headers: { 'private-token': world.root.token! } })

    const cut = await open('.zip')
    await cut.body[Symbol.asyncIterator]().next()
    await expect.poll(processes).not.toBe('0')
    cut.body.destroy()
    await expect.poll(processes).toBe('0')
  })
})
