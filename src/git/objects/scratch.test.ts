import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gitIn, TestGit } from '../testing.ts'
import { commitObject, type NewObject, newObject, treeObject, writeObjects } from './objects.ts'
import { inScratch, keepObjects, storeInScratch } from './scratch.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const ann = { name: 'Ann', email: 'ann@example.com', at: 1_700_000_000 }

/** A commit whose folder comes before those of the others, in the order of names. */
function commitBefore(tree: NewObject, blob: NewObject): NewObject {
  for (let n = 0; ; n++) {
    const made = commitObject({ tree: tree.oid, parents: [], author: ann, committer: ann, message: `${n}` })
    if (made.oid.slice(0, 2) < blob.oid.slice(0, 2) && made.oid.slice(0, 2) < tree.oid.slice(0, 2)) return made
  }
}

test('a commit is not kept before what it refers to, so that an interruption leaves none without', async () => {
  const { repo } = await world.repository()
  const blob = newObject('blob', Buffer.from('content'))
  const tree = treeObject([{ mode: '100644', name: 'a', oid: blob.oid }])
  const commit = commitBefore(tree, blob)
  const fileOf = ({ oid }: NewObject) => join(repo.objectDir, oid.slice(0, 2), oid.slice(2))
  // A folder is in the way of the file.
  mkdirSync(join(fileOf(blob), 'in the way'), { recursive: true })
  const keep = () =>
    inScratch(repo, async (scratch) => {
      await writeObjects(scratch, [blob, tree, commit])
      await keepObjects(repo, scratch, new Set())
    })
  await expect(keep()).rejects.toThrow()
  expect(existsSync(fileOf(commit))).toBe(false)

  const { repo: other, gitDir: otherDir } = await world.repository()
  await inScratch(other, async (scratch) => {
    await writeObjects(scratch, [blob, tree, commit])
    await keepObjects(other, scratch, new Set([blob.oid]))
  })
  expect(gitIn(otherDir, ['cat-file', '-t', commit.oid])).toBe('commit')
  expect(readdirSync(other.objectDir)).not.toContain(blob.oid.slice(0, 2))
})

const blobs = Array.from({ length: 20 }, (_, n) => newObject('blob', Buffer.from(`content ${n}`)))

test('objects whose content does not reach the disk are an error of the caller, and end no process', async () => {
  const script = `
    import fs, { mkdtempSync } from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    fs.fsync = (_file, done) => setImmediate(done, new Error('no space'))
    syncBuiltinESMExports()
    const { newObject } = await import(${JSON.stringify(import.meta.resolve('./objects.ts'))})
    const { storeInScratch } = await import(${JSON.stringify(import.meta.resolve('./scratch.ts'))})
    const objects = Array.from({ length: 20 }, (_, n) => newObject('blob', Buffer.from('content ' + n)))
    const { durable } = await storeInScratch({ objectDir: mkdtempSync(${JSON.stringify(join(world.folder, 'scratch-'))}) }, objects)
    await durable.catch(({ message }) => console.log(message))`
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect((await run).stdout).toBe('no space\n')
})

test('objects of a repository that is deleted meanwhile are those of one that does not exist', async () => {
  const { repo, gitDir } = await world.repository()
  const store = inScratch(repo, async (scratch) => {
    rmSync(gitDir, { recursive: true })
    return storeInScratch(scratch, blobs)
  })
  await expect(store).rejects.toThrow('The repository does not exist')
})
