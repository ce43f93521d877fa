import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { freshEnv, serve } from '../service.ts'
import { git } from '../world.ts'

/**
 * Large contents pass through a worker whose memory does not grow with them. The worker is a separate process, and the kernel
 * records its peak memory.
 */

const mebibyte = 1024 * 1024
const size = 256 * mebibyte
/** Garbage comes and goes; a content held in memory would be twice as much. */
const mostGrowth = size / 2
const piece = Buffer.alloc(mebibyte, 'Forty-two. ')

function* pieces(bytes: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece
}

/** Peak resident memory of a process since the last reset, in bytes. */
const peakOf = (pid: number): number =>
  1024 * Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5')

async function bytesOf(body: AsyncIterable<Buffer>): Promise<number> {
  let got = 0
  for await (const chunk of body) got += chunk.length
  return got
}

test.runIf(existsSync('/proc/self/clear_refs'))(
  'archives, files, large files and uploads of 256 MiB pass through a worker in less than 128 MiB (needs Linux)',
  async () => {
    const { launched, origin, root } = await serve({ ...(await freshEnv()), STITHY_PROCESSES: '1' })
    const token = root.token!
    const headers = { 'private-token': token }
    expect((await root.put('/application/settings', { max_attachment_size: 1000 })).status).toBe(200)

    const work = await temporaryFolder()
    await git(work, 'init', '-q', '-b', 'main')
    const file = await open(join(work, 'large'), 'w')
    for (const each of pieces(size)) await file.write(each)
    await file.close()
    await writeFileSync(join(work, 'small'), 'small\n')
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Large and small')
    await git(work, 'push', '-q', `${origin.replace('//', `//root:${token}@`)}/root/large.git`, 'main')
    const project = '/projects/root%2Flarge'

    const read = async (path: string) => {
      const { statusCode, body } = await request(`${origin}/api/v4${project}/repository/${path}`, { headers })
      return [statusCode, await bytesOf(body)]
    }
    const send = async (method: 'PUT' | 'POST', path: string, body: Readable, more: object) =>
      (await request(origin + path, { method, headers: { ...headers, ...more }, body })).statusCode
    const largeFile = async (bytes: number) => {
      const hash = createHash('sha256')
      for (const each of pieces(bytes)) hash.update(each)
      const path = `/root/large.git/gitlab-lfs/objects/${hash.digest('hex')}/${bytes}`
      const authorization = `Basic ${Buffer.from(`root:${token}`).toString('base64')}`
      return send('PUT', path, Readable.from(pieces(bytes)), { authorization })
    }
    const upload = (bytes: number) => {
      const form = function* () {
        yield Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="large"\r\n\r\n')
        yield* pieces(bytes)
        yield Buffer.from('\r\n--b--\r\n')
      }
      const type = { 'content-type': 'multipart/form-data; boundary=b' }
      return send('POST', `/api/v4${project}/uploads`, Readable.from(form()), type)
    }
    // Memory that a worker allocates once is not counted.
    await Promise.all([read('archive.tar?sha=main&path=small'), read('files/small/raw?ref=main')])
    await Promise.all([largeFile(piece.length), upload(piece.length)])

    const [worker] = launched.named('stithy worker')
    const grows: Record<string, number> = {}
    const measure = async (name: string, work: () => Promise<unknown>) => {
      resetPeak(worker!)
      const before = peakOf(worker!)
      const result = await work()
      grows[name] = peakOf(worker!) - before
      return result
    }
    expect(await measure('archive', () => read('archive.tar?sha=main'))).toEqual([200, expect.closeTo(size, -5)])
    expect(await measure('file', () => read('files/large/raw?ref=main'))).toEqual([200, size])
    expect(await measure('large file', () => largeFile(size))).toBe(200)
    expect(await measure('upload', () => upload(size))).toBe(201)
    for (const [name, growth] of Object.entries(grows)) expect(growth, name).toBeLessThan(mostGrowth)
    expect(launched.named('stithy worker')).toEqual([worker])
  },
)
