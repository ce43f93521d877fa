import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { belongingOf, writeKey } from './project-key.ts'

/** Moves each folder to its place, or with `back` there and away again. */
const mover = `
  const { workerData: { root, count, back } } = require('node:worker_threads')
  const { renameSync } = require('node:fs')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let i = 0; i < count; i++) {
    Atomics.wait(pause, 0, 0, 2)
    renameSync(root + '/made-' + i, root + '/place-' + i)
    if (back) renameSync(root + '/place-' + i, root + '/away-' + i)
  }
`

/** What was seen at the places of repositories while another thread moved them. */
async function seenDuringMoves({ count, back }: { count: number; back: boolean }): Promise<Set<string>> {
  const root = await mkdtemp(join(tmpdir(), 'stithy-keys-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const key = randomUUID()
  for (let i = 0; i < count; i++) {
    await mkdir(join(root, `made-${i}`))
    await writeKey(join(root, `made-${i}`), key)
  }
  const worker = new Worker(mover, { eval: true, workerData: { root, count, back } })
  let ended = false
  const end = once(worker, 'exit').then(() => {
    ended = true
  })
  const seen = new Set<string>()
  let place = 0
  while (!ended) {
    // Close to the move: most looks are at the next place.
    for (let look = 0; look < 500; look++) {
      const belonging = belongingOf(join(root, `place-${place}`), key)
      seen.add(belonging)
      if (belonging === 'own' && place < count - 1) place++
    }
    await new Promise(setImmediate)
  }
  await end
  return seen
}

test('a repository that comes to its place during the look is never taken for a foreign one', async () => {
  expect([...(await seenDuringMoves({ count: 500, back: false }))].sort()).toEqual(['absent', 'own'])
})

test('a repository that leaves its place during the look is no error', async () => {
  expect([...(await seenDuringMoves({ count: 500, back: true }))]).toContain('absent')
})
