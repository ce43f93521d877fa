import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { endedWell } from '../runner/protocol.ts'
import { FetchSharing } from './fetch-sharing.ts'
import type { ResponseReader, Source, StartResponse } from './shared-response.ts'

const clone = { key: 'equal', isClone: true }
const packet = Buffer.from('000dpackfile\n')

/** Git that sends one packet, and the rest once `go` resolves. Like a process, it does not end at once when it is aborted. */
function git(go: Promise<unknown>): StartResponse {
  async function* bytes(): AsyncGenerator<Buffer> {
    yield packet
    await go
    yield Buffer.from('0000')
  }
  return async (signal) => {
    const source: Source = Object.assign(bytes(), {
      readableLength: 0,
      done: go.then(() => {
        signal.throwIfAborted()
        return endedWell
      }),
    })
    source.done.catch(() => {})
    return source
  }
}

async function read(reader: ResponseReader): Promise<string> {
  const parts: Buffer[] = []
  for (let part = await reader.next(); Buffer.isBuffer(part); part = await reader.next()) parts.push(part)
  reader.leave()
  return Buffer.concat(parts).toString()
}

test('a clone that waits for its process no longer waits after its client and the process that asked for it have left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-sharing-'))
  try {
    await using sharing = new FetchSharing({ folder, sockets: folder, minFreeBytes: 0 })
    const waiting = Promise.withResolvers<AbortSignal>()
    const reader = (await sharing.join(clone, 'ann', (signal) => {
      waiting.resolve(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }))!
    const signal = await waiting.promise
    const other = connect(join(folder, `fetches.${process.pid}.sock`))
    other.write('1 equal\n')
    await once(other, 'data')
    // Nothing shows that the other process has joined.
    await delay(200)
    reader.leave()
    other.destroy()
    await expect.poll(() => signal.aborted).toBe(true)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a clone that comes while the process of clients that have left is ending gets a process of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-sharing-'))
  try {
    await using sharing = new FetchSharing({ folder, minFreeBytes: 0 })
    const ending = Promise.withResolvers<void>()
    const first = (await sharing.join(clone, 'ann', git(ending.promise)))!
    expect(await first.next()).toEqual(packet)
    first.leave()
    const second = (await sharing.join(clone, 'bob', git(Promise.resolve())))!
    ending.resolve()
    expect(await read(second)).toBe(`${packet}0000`)
  } finally {
    await rm(folder, { recursive: true })
  }
})
