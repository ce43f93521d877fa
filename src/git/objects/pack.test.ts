import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitIn, TestGit } from '../testing.ts'
import { newObject } from './objects.ts'
import { storeObjects } from './pack.ts'

test('a pack of small, large and empty objects passes git fsck', async () => {
  await using world = await TestGit.start()
  const { repo, gitDir } = await world.repository()
  const sizes = [0, 1, 16, 1000, 16 * 1024 - 1, 16 * 1024, 40_000, 3 * 1024 * 1024]
  const objects = sizes.map((size) => newObject('blob', randomBytes(size)))
  for (let at = 0; at < 1000; at++) objects.push(newObject('blob', Buffer.from(`${'text '.repeat(at)}${at}`)))
  await storeObjects(repo, [...objects, ...objects.slice(0, 50)])

  expect(readdirSync(join(gitDir, 'objects/pack')).filter((name) => name.endsWith('.pack'))).toHaveLength(1)
  const listed = gitIn(gitDir, ['cat-file', '--batch-check'], objects.map(({ oid }) => oid).join('\n'))
  expect(listed.split('\n')).toEqual(objects.map(({ oid, content }) => `${oid} blob ${content.length}`))
  gitIn(gitDir, ['fsck', '--full', '--strict'])
})
