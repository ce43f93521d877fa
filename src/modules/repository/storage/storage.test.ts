import { execFileSync } from 'node:child_process'
import { request } from 'undici'
import { describe, expect } from 'vitest'
import { locate } from '../../../../test/contexts.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import { snapshot } from '../../../git/transfer/snapshot.ts'
import { openRepository } from '../../projects/repositories/open.ts'
import { storedProject } from '../commits/testing.ts'

/** Unpacks a tar into a folder and returns its refs, after git has checked that all their objects are there. */
async function unpacked(folder: string, tar: Buffer): Promise<string> {
  execFileSync('tar', ['-xf', '-', '-C', folder], { input: tar })
  await git(folder, 'fsck', '--full', '--connectivity-only')
  return git(folder, 'for-each-ref', '--format=%(objectname) %(refname)')
}

describe('GET /projects/:id/storage', () => {
  test('administrators read where a repository is stored', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const { json } = await world.root.get(`/projects/${id}/storage`)
    expect(json).toEqual({
      project_id: id,
      disk_path: expect.stringMatching(new RegExp(`^[0-9a-f]{3}/${id}$`)),
      created_at: expect.any(String),
      repository_storage: 'default',
    })
    expect(repository.repo.gitDir.endsWith(`${json.repository_storage}/${json.disk_path}.git`)).toBe(true)
  })
})

describe('GET /projects/:id/snapshot', () => {
  test('a snapshot is a tar of the bare repository, with packed and loose objects and hidden refs', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' })
    repository.git('repack', '-ad')
    repository.git('update-ref', `refs/keep-around/${first}`, first)
    repository.commit({ a: '2', [`${'dir/'.repeat(30)}b`]: 'x'.repeat(100_000) })
    repository.git('tag', '-a', 'v1', '-m', 'One')
    repository.git('tag', '-a', 'v2', '-m', 'Of a tag', 'v1')
    const answer = await request(`${world.origin}/api/v4/projects/${id}/snapshot`, {
      headers: { 'private-token': world.root.token! },
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-tar',
      'content-disposition': expect.stringContaining('.git.tar"'),
    })
    const refs = await unpacked(folder.path, Buffer.from(await answer.body.arrayBuffer()))
    expect(refs).toBe(repository.git('for-each-ref', '--format=%(objectname) %(refname)'))
    expect(await git(folder.path, 'show-ref', '--tags', '-d')).toBe(repository.git('show-ref', '--tags', '-d'))
    expect(await git(folder.path, 'show', 'HEAD:a')).toBe('2')
    expect(await git(folder.path, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
  })

  test('a snapshot is complete when the repository is repacked while it is read', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { id, repository } = await storedProject(world)
    for (let at = 0; at < 20; at++) repository.commit({ a: String(at) })
    const repo = openRepository(await world.app.open(null), await locate(world, id))
    const chunks: Buffer[] = []
    for await (const chunk of snapshot(repo)) {
      // The refs have been read, and no object: now all loose objects become a pack.
      if (chunks.length === 3) repository.git('repack', '-ad')
      chunks.push(chunk)
    }
    expect(await unpacked(folder.path, Buffer.concat(chunks))).toBe(
      repository.git('for-each-ref', '--format=%(objectname) %(refname)'),
    )
    expect(chunks.length).toBeGreaterThan(3)
  })

  test('an empty repository has a snapshot without refs', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { id } = await world.project()
    const answer = await request(`${world.origin}/api/v4/projects/${id}/snapshot`, {
      headers: { 'private-token': world.root.token! },
    })
    expect(await unpacked(folder.path, Buffer.from(await answer.body.arrayBuffer()))).toBe('')
  })

  test('403 for a snapshot as a maintainer, 404 for that of a wiki', async ({ world }) => {
    const ann = await world.user()
    const { id } = await storedProject(world, { members: [[ann, 'maintainer']] })
    expect((await ann.get(`/projects/${id}/snapshot`)).status).toBe(403)
    expect(await world.root.get(`/projects/${id}/snapshot?wiki=true`)).toMatchObject({
      status: 404,
      json: { message: '404 Wiki Not Found' },
    })
  })
})
